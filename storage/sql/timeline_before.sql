-- The latest entries of a user's timeline before $day, newest first.
SELECT id, day, happened_on, text FROM timeline
WHERE user_id = $user AND day < $day
ORDER BY day DESC, id
LIMIT 200
