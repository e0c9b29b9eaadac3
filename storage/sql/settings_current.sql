SELECT name, value FROM settings QUALIFY row_number() OVER (PARTITION BY name ORDER BY changed_at DESC) = 1
