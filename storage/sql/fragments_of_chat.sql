-- A chat's fragments of $first or later, and older ones that no night has taken up.
SELECT id, project, day, status, archived_on, from_at, to_at, text, message_ids, made_by FROM fragments
WHERE user_id = $user AND chat_id = $chat AND (day >= $first OR archived_on IS NULL)
ORDER BY from_at, id
