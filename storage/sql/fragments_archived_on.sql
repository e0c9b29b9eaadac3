-- The fragments the night of $day took up, with the messages behind them. Only companion chats make events.
SELECT f.id, f.day, f.project, f.from_at, f.to_at, f.text, f.language, f.message_ids,
       coalesce(c.mode, 'companion') AS mode
FROM fragments f
LEFT JOIN (SELECT DISTINCT id, mode FROM chats WHERE user_id = $user) c ON c.id = f.chat_id
WHERE f.user_id = $user AND f.day <= $day AND f.archived_on = $day
ORDER BY f.from_at, f.id
