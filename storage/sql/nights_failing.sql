-- The days whose night has failed and is not closed since; everybody's where $user is null.
SELECT user_id, day, status, attempt, finished_at, error FROM nights
WHERE step = 'night' AND attempt > 0 AND status NOT IN ('complete', 'stale') AND ($user IS NULL OR user_id = $user)
ORDER BY user_id, day
