-- The latest night that began.
SELECT day, status, attempt, started_at, finished_at, error, counts FROM nights
WHERE user_id = $user AND step = 'night' ORDER BY day DESC LIMIT 1
