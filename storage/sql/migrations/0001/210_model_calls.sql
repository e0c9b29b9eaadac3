CREATE TABLE model_calls (
    id VARCHAR, user_id VARCHAR, day DATE, purpose VARCHAR, model VARCHAR, tokens_in INTEGER, tokens_out INTEGER,
    tokens_cached INTEGER, ms INTEGER, outcome VARCHAR, called_at TIMESTAMPTZ
)
