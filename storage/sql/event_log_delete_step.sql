DELETE FROM event_log WHERE user_id = $user AND day = $day AND step = $step
