ALTER TABLE messages SET PARTITIONED BY (year(day), month(day))
