-- What a user's facts are about: those of the person, and those of one project.
SELECT DISTINCT entity FROM facts
WHERE user_id = $user AND status = 'current' AND (project IS NULL OR project = $project) ORDER BY entity
