-- Which fragments hold any of these messages.
SELECT id, message_ids FROM fragments
WHERE user_id = $user AND list_has_any(message_ids, $ids)
