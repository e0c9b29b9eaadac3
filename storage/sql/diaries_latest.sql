-- The latest diaries up to $day, newest first.
SELECT id, day, text, made_by FROM diaries WHERE user_id = $user AND day <= $day ORDER BY day DESC LIMIT 31
