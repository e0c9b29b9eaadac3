CREATE TABLE citations (user_id VARCHAR, memory_kind VARCHAR, memory_id VARCHAR, reply_id VARCHAR, cited_at TIMESTAMPTZ)
