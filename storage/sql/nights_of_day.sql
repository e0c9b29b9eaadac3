SELECT step, status, attempt, started_at, finished_at, error, counts
FROM nights WHERE user_id = $user AND day = $day ORDER BY step
