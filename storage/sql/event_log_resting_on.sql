-- The events that rest on any of these fragments.
SELECT DISTINCT event_id FROM event_log
WHERE user_id = $user AND list_has_any(evidence, $ids)
