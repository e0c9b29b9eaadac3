-- Which reply of ours a message in a Telegram chat is a part of.
SELECT message_id, reply_id FROM deliveries
WHERE user_id = $user AND chat_id = $chat AND telegram_id = $telegram_id AND status = 'delivered'
ORDER BY changed_at DESC LIMIT 1
