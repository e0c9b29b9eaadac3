-- On which days a chat was spoken in, newest first, and how many messages came.
SELECT day, sum(change) FILTER (change > 0) AS messages FROM backlog
WHERE user_id = $user AND chat_id = $chat
GROUP BY day ORDER BY day DESC
