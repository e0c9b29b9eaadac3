SELECT max(table_id) AS id FROM __ducklake_metadata_lake.ducklake_table WHERE table_name = $table AND end_snapshot IS NULL
