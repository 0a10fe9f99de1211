-- The session of the dashboard that made a key.
ALTER TABLE keys ADD COLUMN created_by text COLLATE "C";
