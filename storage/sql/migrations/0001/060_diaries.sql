CREATE TABLE diaries (
    id VARCHAR, user_id VARCHAR, day DATE, text VARCHAR, language VARCHAR,
    fragment_ids VARCHAR[], made_by VARCHAR, made_at TIMESTAMPTZ
)
