DELETE FROM diaries WHERE user_id = $user AND day = $day
