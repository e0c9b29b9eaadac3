-- The seven cards as they stand: the last change of each line, unless it was retired.
CREATE VIEW cards AS
SELECT user_id, item_id, dimension, text, day AS changed_on, evidence, changed_by, made_by
FROM card_changes
QUALIFY row_number() OVER (PARTITION BY user_id, item_id ORDER BY day DESC, position DESC) = 1 AND op <> 'retire'
