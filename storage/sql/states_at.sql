-- The time-bound states as they stood at the end of $day, over ones included.
SELECT state_id,
       arg_max(text, (day, position)) AS text,
       arg_max(op, (day, position)) AS op,
       arg_max(due_at, (day, position)) AS due_at,
       min(day) AS opened_on,
       max(day) AS changed_on
FROM state_changes
WHERE user_id = $user AND day <= $day
GROUP BY state_id
ORDER BY opened_on, state_id
