-- Messages of one business day, word for word.
SELECT id, role, text, sent_at FROM messages
WHERE user_id = $user AND day = $day AND id IN (SELECT unnest($ids))
ORDER BY sent_at, id
