-- The messages that are not archived again, of everybody.
SELECT DISTINCT id FROM forgotten WHERE kind = 'message'
