-- What Telegram shows of the replies, one row a change: begun (while it streams), delivered. `position` is the part.
CREATE TABLE deliveries (
    user_id VARCHAR, chat_id VARCHAR, message_id VARCHAR, reply_id VARCHAR, telegram_id BIGINT, position INTEGER,
    status VARCHAR, changed_at TIMESTAMPTZ
)
