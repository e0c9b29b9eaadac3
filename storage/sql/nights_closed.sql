SELECT count(*) AS closed FROM nights WHERE step = 'night' AND status IN ('complete', 'stale')
