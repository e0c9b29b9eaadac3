-- What became of a picture, one row a change: queued, described, failed. The latest row counts.
CREATE TABLE pictures (
    message_id VARCHAR, user_id VARCHAR, status VARCHAR, description VARCHAR, changed_at TIMESTAMPTZ
)
