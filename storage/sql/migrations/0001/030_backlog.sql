-- What still waits to be summarised, as changes to be summed: +n when n messages of a chat and day are
-- archived, -n when a fragment takes n of them. Spares reading every day's file to find the open ones.
CREATE TABLE backlog (user_id VARCHAR, chat_id VARCHAR, day DATE, change INTEGER)
