-- Days before $today somebody spoke on and that no night has closed.
SELECT b.user_id, count(DISTINCT b.day) AS days, min(b.day) AS oldest
FROM backlog b
WHERE b.day < $today AND NOT EXISTS (
    SELECT 1 FROM nights n
    WHERE n.user_id = b.user_id AND n.day = b.day AND n.step = 'night' AND n.status IN ('complete', 'stale', 'failed', 'stuck')
)
GROUP BY b.user_id ORDER BY b.user_id
