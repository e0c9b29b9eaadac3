-- All of a user's rows of one table.
SELECT * FROM query_table($table) WHERE user_id = $user
