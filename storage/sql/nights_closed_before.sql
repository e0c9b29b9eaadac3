-- Which nights before a day are closed.
SELECT user_id, day FROM nights WHERE step = 'night' AND status IN ('complete', 'stale') AND day < $before
