-- Which messages a user's fragments of some days hold.
SELECT unnest(message_ids) AS id FROM fragments WHERE user_id = $user AND day IN (SELECT unnest($days))
