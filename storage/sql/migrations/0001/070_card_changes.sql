-- A dated change to one line of one of the seven cards. Within a day they apply by `position`.
CREATE TABLE card_changes (
    id VARCHAR, user_id VARCHAR, day DATE, position INTEGER, op VARCHAR, item_id VARCHAR, dimension VARCHAR,
    text VARCHAR, evidence VARCHAR, changed_by VARCHAR, made_by VARCHAR, made_at TIMESTAMPTZ
)
