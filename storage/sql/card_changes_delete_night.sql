DELETE FROM card_changes WHERE user_id = $user AND day = $day AND changed_by = 'night'
