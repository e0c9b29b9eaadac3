-- The summary of a run of messages. A committed one is frozen; archived_on is the night that took it up.
-- A status is 'summarised', 'empty' (nothing worth keeping: no text, later steps pass it over) or 'quarantined' (refused for
-- good: no text, its messages word for word in quarantine).
CREATE TABLE fragments (
    id VARCHAR, user_id VARCHAR, chat_id VARCHAR, project VARCHAR, day DATE,
    first_message_id VARCHAR, last_message_id VARCHAR, message_ids VARCHAR[],
    from_at TIMESTAMPTZ, to_at TIMESTAMPTZ, text VARCHAR, language VARCHAR,
    status VARCHAR, archived_on DATE, made_by VARCHAR, made_at TIMESTAMPTZ
)
