-- What the owner locked, and has not unlocked since.
SELECT target_id FROM marks
WHERE user_id = $user AND mark = 'locked'
QUALIFY row_number() OVER (PARTITION BY target_id ORDER BY changed_at DESC) = 1 AND active
