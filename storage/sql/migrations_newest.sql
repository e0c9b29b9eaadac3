SELECT max(number) AS number FROM migrations
