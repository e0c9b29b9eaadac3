-- Our reply to one message, if there is one. The days leave out every file of another day.
SELECT id, text, day, sent_at FROM messages
WHERE user_id = $user AND chat_id = $chat AND reply_to = $message AND source = 'nightkeeper' AND role = 'assistant'
  AND day BETWEEN $first AND $last
ORDER BY sent_at, id LIMIT 1
