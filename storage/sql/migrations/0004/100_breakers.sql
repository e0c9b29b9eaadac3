-- Whether a model is asked: one row a change, the latest counts. in_a_row: answers that were none, one after another.
CREATE TABLE breakers (name VARCHAR, in_a_row INTEGER, outcome VARCHAR, ask_again_at TIMESTAMPTZ, changed_at TIMESTAMPTZ)
