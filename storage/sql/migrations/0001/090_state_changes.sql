-- A dated change to a time-bound state: opened, settled, cancelled, rescheduled. `step` is the nightly
-- step that wrote it, or 'owner'. Within a day they apply by `position`.
CREATE TABLE state_changes (
    id VARCHAR, user_id VARCHAR, day DATE, step VARCHAR, position INTEGER, op VARCHAR, state_id VARCHAR,
    text VARCHAR, due_at TIMESTAMPTZ, evidence VARCHAR, changed_by VARCHAR, made_by VARCHAR, made_at TIMESTAMPTZ
)
