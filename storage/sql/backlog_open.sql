-- The chats and days of a user, up to $day, that hold messages in no fragment yet.
SELECT chat_id, day FROM backlog
WHERE user_id = $user AND day <= $day
GROUP BY chat_id, day HAVING sum(change) > 0
ORDER BY day, chat_id
