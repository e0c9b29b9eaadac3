UPDATE fragments SET archived_on = $day
WHERE user_id = $user AND day <= $day AND archived_on IS NULL AND id IN (SELECT unnest($ids))
