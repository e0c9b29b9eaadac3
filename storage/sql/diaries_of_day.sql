SELECT id, text, language, fragment_ids FROM diaries WHERE user_id = $user AND day = $day
