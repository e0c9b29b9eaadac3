-- The seven cards as they stood at the end of $day.
SELECT item_id, dimension, text, changed_on, locked FROM (
    SELECT item_id,
           arg_max(dimension, (day, position)) AS dimension,
           arg_max(text, (day, position)) AS text,
           arg_max(op, (day, position)) AS op,
           max(day) AS changed_on,
           bool_or(changed_by = 'owner') AS locked
    FROM card_changes
    WHERE user_id = $user AND day <= $day
    GROUP BY item_id
)
WHERE op <> 'retire'
ORDER BY dimension, changed_on, item_id
