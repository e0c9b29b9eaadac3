-- Every value a knob was given, newest last: the current ones and their history.
CREATE TABLE settings (name VARCHAR, value JSON, changed_by VARCHAR, changed_at TIMESTAMPTZ)
