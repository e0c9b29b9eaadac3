-- Who wrote to the bot without being one of its owners, and was told so once.
CREATE TABLE strangers (telegram_id BIGINT, told_at TIMESTAMPTZ)
