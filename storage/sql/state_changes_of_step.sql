-- What a step of one night changed, in order.
SELECT state_id, op, text, due_at FROM state_changes
WHERE user_id = $user AND day = $day AND step = $step
ORDER BY position
