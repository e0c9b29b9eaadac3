CREATE TABLE chats (
    id VARCHAR, user_id VARCHAR, mode VARCHAR, project VARCHAR, title VARCHAR, source VARCHAR, created_at TIMESTAMPTZ
)
