-- The session of the dashboard that made a key.
ALTER TABLE keys ADD COLUMN created_by text COLLATE "C";

-- In place of add_key_1, which the release before calls, and which a later one drops.
CREATE FUNCTION add_key_2(p_now bigint, p_id text, p_project text, p_hash bytea, p_prefix text, p_label text,
  p_created_by text, p_scope text, p_expires_at bigint, p_most int, p_counts_revoked boolean)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  added bigint := add_key_1(p_now, p_id, p_project, p_hash, p_prefix, p_label, p_scope, p_expires_at, p_most,
    p_counts_revoked);
BEGIN
  UPDATE keys SET created_by = p_created_by WHERE id = p_id AND added IS NOT NULL AND p_created_by IS NOT NULL;
  RETURN added;
END $$;
