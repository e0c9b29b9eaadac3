-- Every message of a user, word for word, with what its picture shows.
SELECT m.id, m.chat_id, m.day, m.role, m.text, m.sent_at, m.media_path, m.reply_to, m.replaces, m.archived_at,
       p.description
FROM messages m
LEFT JOIN (
    SELECT message_id, string_agg(description, ' ') AS description FROM pictures WHERE user_id = $user GROUP BY message_id
) p ON p.message_id = m.id
WHERE m.user_id = $user
