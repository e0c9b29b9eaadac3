SELECT day, text, made_by FROM diaries
WHERE user_id = $user AND day BETWEEN $first AND $last ORDER BY day
