-- The messages of a user that an edit on $first or later has replaced.
SELECT replaces FROM messages WHERE user_id = $user AND day >= $first AND replaces IS NOT NULL
