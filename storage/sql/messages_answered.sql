-- What a user wrote to the bot since $since, with our reply to it where there is one. $first leaves out files of earlier days.
SELECT m.id, m.chat_id, m.text, m.kind, m.media_path, m.reply_to, m.replaces, m.source_id, m.sent_at, m.project,
       r.id AS reply_id, r.text AS reply_text
FROM messages m
LEFT JOIN messages r ON r.user_id = m.user_id AND r.reply_to = m.id AND r.role = 'assistant' AND r.day >= $first
WHERE m.user_id = $user AND m.source = $source AND m.role = 'user' AND m.day >= $first AND m.sent_at >= $since
ORDER BY m.sent_at, m.id
