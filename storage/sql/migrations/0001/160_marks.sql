-- useful, not_useful, needs_review, locked; the latest row of a target and mark counts.
CREATE TABLE marks (
    user_id VARCHAR, target_kind VARCHAR, target_id VARCHAR, mark VARCHAR, active BOOLEAN, note VARCHAR,
    changed_by VARCHAR, changed_at TIMESTAMPTZ
)
