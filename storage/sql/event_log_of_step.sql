-- What one step of one night wrote down about the event table.
SELECT event_id, op, evidence FROM event_log
WHERE user_id = $user AND day = $day AND step = $step
ORDER BY event_id, op
