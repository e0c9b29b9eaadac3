DELETE FROM graveyard WHERE user_id = $user AND day < $before
