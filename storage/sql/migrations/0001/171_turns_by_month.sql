ALTER TABLE turns SET PARTITIONED BY (year(day), month(day))
