DELETE FROM alerts WHERE alert_key = $key AND (id = $id OR status = 'more')
