-- Fragments that hold any of these messages of one business day.
SELECT id FROM fragments
WHERE user_id = $user AND day = $day AND list_has_any(message_ids, $ids)
