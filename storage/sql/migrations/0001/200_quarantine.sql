-- A part that was refused for good, with the raw text it was about.
CREATE TABLE quarantine (
    id VARCHAR, user_id VARCHAR, day DATE, step VARCHAR, subject_id VARCHAR, reason VARCHAR, raw VARCHAR,
    made_at TIMESTAMPTZ
)
