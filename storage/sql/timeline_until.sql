SELECT happened_on, day, text FROM timeline
WHERE user_id = $user AND day <= $day ORDER BY happened_on, id
