-- How many of a user's graves were dug before a day.
SELECT count(*) AS rows FROM graveyard WHERE user_id = $user AND day < $before
