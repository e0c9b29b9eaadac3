CREATE TABLE backups (
    id VARCHAR, location VARCHAR, bytes BIGINT, status VARCHAR, manifest JSON, made_at TIMESTAMPTZ, verified_at TIMESTAMPTZ
)
