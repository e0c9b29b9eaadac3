DELETE FROM timeline WHERE user_id = $user AND day = $day
