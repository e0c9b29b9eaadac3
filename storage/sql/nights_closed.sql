SELECT count(*) AS nights, max(day) AS newest FROM nights WHERE step = 'night' AND status IN ('complete', 'stale')
