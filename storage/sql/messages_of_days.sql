-- A user's messages of some business days, word for word, in the order of each chat.
SELECT id, chat_id, project, role, text, sent_at, day, kind, replaces FROM messages
WHERE user_id = $user AND day IN (SELECT unnest($days)) AND day BETWEEN $first AND $last
ORDER BY chat_id, day, sent_at, id
