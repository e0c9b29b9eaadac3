-- Take back that events were buried by hand.
DELETE FROM event_log WHERE user_id = $user AND step = $step AND op = 'buried' AND event_id IN (SELECT unnest($ids))
