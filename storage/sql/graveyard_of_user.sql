-- What lies in the graveyard for a user.
SELECT id, day FROM graveyard WHERE user_id = $user
