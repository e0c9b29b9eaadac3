DELETE FROM alerts WHERE id = $id
