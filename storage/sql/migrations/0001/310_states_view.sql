-- Time-bound states as they stand: open until settled or cancelled, due when last rescheduled.
CREATE VIEW states AS
SELECT user_id, state_id,
       arg_max(text, (day, position)) AS text,
       CASE arg_max(op, (day, position)) WHEN 'opened' THEN 'open' WHEN 'rescheduled' THEN 'open'
            ELSE arg_max(op, (day, position)) END AS status,
       arg_max(due_at, (day, position)) AS due_at,
       min(day) AS opened_on, max(day) AS changed_on
FROM state_changes
GROUP BY user_id, state_id
