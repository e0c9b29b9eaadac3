-- What was forgotten, by id, and digests of the sentences taken out of rows that stayed: never a text. What stands
-- here is not made, imported or restored again.
CREATE TABLE forgotten (
    user_id VARCHAR, kind VARCHAR, id VARCHAR, day DATE, request VARCHAR, forgotten_at TIMESTAMPTZ
)
