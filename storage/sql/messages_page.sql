-- A page of a user's messages of some business days, oldest first, after the one at $after_at with $after_id.
SELECT id, chat_id, project, role, text, sent_at, day, kind, reply_to, replaces FROM messages
WHERE user_id = $user AND coalesce(project, '') = $project AND day BETWEEN $first AND $last
    AND ($chat IS NULL OR chat_id = $chat)
    AND ($after_at IS NULL OR (sent_at, id) > ($after_at, $after_id))
ORDER BY sent_at, id
LIMIT $limit
