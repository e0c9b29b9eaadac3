-- Pictures that have waited for their description since before a moment.
SELECT message_id, user_id FROM pictures
QUALIFY row_number() OVER (PARTITION BY user_id, message_id ORDER BY changed_at DESC) = 1
    AND status = 'queued' AND changed_at <= $before
ORDER BY message_id
