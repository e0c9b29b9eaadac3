-- Every state that nothing has closed yet, whether or not a night has seen that it ran out.
SELECT state_id, text, due_at, opened_on, changed_on, locked FROM (
    SELECT state_id,
           arg_max(text, (day, position)) FILTER (text IS NOT NULL AND text <> '') AS text,
           arg_max(op, (day, position)) AS op,
           arg_max(due_at, (day, position)) AS due_at,
           min(day) AS opened_on,
           max(day) AS changed_on,
           bool_or(changed_by = 'owner') AS locked
    FROM state_changes
    WHERE user_id = $user
    GROUP BY state_id
)
WHERE op NOT IN ('settled', 'cancelled')
ORDER BY due_at, state_id
