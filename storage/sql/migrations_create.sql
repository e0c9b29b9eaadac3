CREATE TABLE migrations (number INTEGER)
