SELECT 1 AS found FROM duckdb_tables() WHERE database_name = 'lake' AND table_name = 'migrations'
