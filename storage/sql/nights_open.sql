SELECT user_id, day, status, error FROM nights WHERE step = 'night' AND status IN ('running', 'failed', 'stuck') ORDER BY user_id, day
