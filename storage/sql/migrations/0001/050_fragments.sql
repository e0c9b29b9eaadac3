-- The summary of a run of messages. A committed one is frozen; archived_on is the night that took it up.
-- A run that was refused for good has status 'quarantined' and no text.
CREATE TABLE fragments (
    id VARCHAR, user_id VARCHAR, chat_id VARCHAR, project VARCHAR, day DATE,
    first_message_id VARCHAR, last_message_id VARCHAR, message_ids VARCHAR[],
    from_at TIMESTAMPTZ, to_at TIMESTAMPTZ, text VARCHAR, language VARCHAR,
    status VARCHAR, archived_on DATE, made_by VARCHAR, made_at TIMESTAMPTZ
)
