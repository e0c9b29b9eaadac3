-- Whether each target a user ever starred is starred now.
SELECT target_kind, target_id, starred FROM stars
WHERE user_id = $user
QUALIFY row_number() OVER (PARTITION BY target_id ORDER BY changed_at DESC) = 1
