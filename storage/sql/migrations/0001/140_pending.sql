CREATE TABLE pending (
    id VARCHAR, user_id VARCHAR, project VARCHAR, kind VARCHAR, proposal JSON, replaces VARCHAR, status VARCHAR,
    asked_at TIMESTAMPTZ, settled_at TIMESTAMPTZ, made_at TIMESTAMPTZ
)
