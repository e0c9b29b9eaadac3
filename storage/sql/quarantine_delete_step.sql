DELETE FROM quarantine WHERE user_id = $user AND day = $day AND step = $step
