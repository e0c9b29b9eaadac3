-- How many replies credited each of a user's memories, and when last.
SELECT memory_id, count(DISTINCT reply_id) AS hits, max(cited_at) AS last_cited_at FROM citations
WHERE user_id = $user
GROUP BY memory_id
