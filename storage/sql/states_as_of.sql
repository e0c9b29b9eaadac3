-- The open states as they stood the day before $day, and after what the owner and $steps changed on $day itself.
-- A state the owner ever touched is locked.
SELECT state_id, text, due_at, locked, last_today FROM (
    SELECT state_id,
           arg_max(text, (day, position)) AS text,
           arg_max(op, (day, position)) AS op,
           arg_max(due_at, (day, position)) AS due_at,
           bool_or(changed_by = 'owner') AS locked,
           max(position) FILTER (WHERE day = $day) AS last_today
    FROM state_changes
    WHERE user_id = $user AND (day < $day OR (day = $day AND (changed_by = 'owner' OR step IN (SELECT unnest($steps)))))
    GROUP BY state_id
)
WHERE op NOT IN ('settled', 'cancelled')
ORDER BY due_at, state_id
