CREATE TABLE turns (
    id VARCHAR, user_id VARCHAR, chat_id VARCHAR, day DATE, message_id VARCHAR, reply_id VARCHAR, injected JSON,
    cited VARCHAR[], tokens_in INTEGER, tokens_out INTEGER, tokens_cached INTEGER, stages_ms JSON, outcome VARCHAR,
    notes JSON, started_at TIMESTAMPTZ
)
