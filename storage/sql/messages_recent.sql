-- The newest messages of a chat, newest first; $first leaves out the files of earlier days.
SELECT id, project, role, text, sent_at, day, kind, media_path, replaces FROM messages
WHERE user_id = $user AND chat_id = $chat AND day >= $first
ORDER BY sent_at DESC, id DESC
LIMIT $limit
