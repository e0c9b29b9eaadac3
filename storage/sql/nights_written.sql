-- What stands of each closed night since a day: its diary, changes of cards and states, timeline entries, events.
WITH written AS (
    SELECT user_id, day, 'diaries' AS kind FROM diaries
    UNION ALL SELECT user_id, day, 'cards' FROM card_changes WHERE changed_by = 'night'
    UNION ALL SELECT user_id, day, 'states' FROM state_changes WHERE changed_by = 'night'
    UNION ALL SELECT user_id, day, 'timeline' FROM timeline
    UNION ALL SELECT user_id, day, 'events' FROM event_log WHERE op = 'made'
)
SELECT n.user_id, n.day,
       count(*) FILTER (kind = 'diaries') AS diaries, count(*) FILTER (kind = 'cards') AS cards,
       count(*) FILTER (kind = 'timeline') AS timeline, count(*) FILTER (kind = 'states') AS states,
       count(*) FILTER (kind = 'events') AS events
FROM nights n LEFT JOIN written w ON w.user_id = n.user_id AND w.day = n.day
WHERE n.step = 'night' AND n.status IN ('complete', 'stale') AND n.day >= $since
GROUP BY n.user_id, n.day ORDER BY n.user_id, n.day
