-- One message, word for word. Append-only: an edit is a new row that `replaces` the old one.
-- `day` is the business day, stamped on arrival, so moving the nightly hour re-labels nothing.
CREATE TABLE messages (
    id VARCHAR, user_id VARCHAR, chat_id VARCHAR, project VARCHAR,
    role VARCHAR, text VARCHAR, sent_at TIMESTAMPTZ, day DATE,
    kind VARCHAR, media_path VARCHAR, reply_to VARCHAR, replaces VARCHAR,
    source VARCHAR, source_id VARCHAR, archived_at TIMESTAMPTZ
)
