SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake' ORDER BY table_name
