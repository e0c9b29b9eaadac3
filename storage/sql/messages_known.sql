-- Ids begin with their time, so the bounds leave out every file of another time, whatever day it was stamped with.
SELECT id FROM messages WHERE id BETWEEN $first AND $last
