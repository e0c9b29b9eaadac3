-- One row a change: starred true or false. The latest row of a target counts.
CREATE TABLE stars (user_id VARCHAR, target_kind VARCHAR, target_id VARCHAR, starred BOOLEAN, changed_by VARCHAR, changed_at TIMESTAMPTZ)
