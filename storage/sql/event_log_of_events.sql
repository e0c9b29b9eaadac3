-- Everything the nights wrote down about these events.
SELECT day, step, event_id, op, evidence FROM event_log
WHERE user_id = $user AND event_id IN (SELECT unnest($ids))
ORDER BY event_id, day, step, op
