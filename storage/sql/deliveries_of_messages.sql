-- What Telegram shows of the answers to these messages.
SELECT message_id, reply_id, telegram_id, position, status FROM deliveries
WHERE user_id = $user AND message_id IN (SELECT unnest($ids))
ORDER BY changed_at, position
