-- Whose diaries there are, and of which days.
SELECT user_id, min(day) AS first_day, max(day) AS last_day, count(*) AS days,
       arg_max(language, day) AS language
FROM diaries GROUP BY user_id ORDER BY user_id
