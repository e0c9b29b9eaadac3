-- A user's messages of one business day that are in no fragment yet.
SELECT id, chat_id, project, role, text, sent_at, kind, media_path, replaces
FROM messages
WHERE user_id = $user AND day = $day AND id NOT IN (
    SELECT unnest(message_ids) FROM fragments WHERE user_id = $user AND day = $day
)
ORDER BY chat_id, sent_at, id
