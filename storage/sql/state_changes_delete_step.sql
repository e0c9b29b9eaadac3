DELETE FROM state_changes WHERE user_id = $user AND day = $day AND step = $step
