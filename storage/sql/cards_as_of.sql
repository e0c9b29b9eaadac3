-- The lines of the seven cards as they stood the day before $day, and after what the owner changed on $day itself.
-- A line the owner ever touched is locked; one the owner removed is listed too, since no night may bring it back.
SELECT item_id, dimension, text, since, op, locked FROM (
    SELECT item_id,
           arg_max(dimension, (day, position)) AS dimension,
           arg_max(text, (day, position)) FILTER (text IS NOT NULL AND text <> '') AS text,
           max(day) FILTER (op <> 'retire') AS since,
           arg_max(op, (day, position)) AS op,
           bool_or(changed_by = 'owner') AS locked
    FROM card_changes
    WHERE user_id = $user AND (day < $day OR (day = $day AND changed_by = 'owner'))
    GROUP BY item_id
)
WHERE op <> 'retire' OR locked
ORDER BY dimension, since, item_id
