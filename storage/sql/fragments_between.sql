SELECT day, from_at, to_at, text, status, made_by FROM fragments
WHERE user_id = $user AND day BETWEEN $first AND $last ORDER BY from_at, id
