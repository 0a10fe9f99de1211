-- What the service writes in statements of its own.
DROP FUNCTION IF EXISTS add_sign_in_1(bigint, bytea, int, boolean, bigint), open_session_1(bigint, bytea, bytea, bigint),
  find_session_1(bigint, bytea), dashboard_url_1(),
  beat_1(bigint, text, text, text, text, text), is_fresh_1(bigint, bigint),
  keep_incoming_1(bigint, text, text, text, text, text, text, text, text, text, int, int),
  suppress_1(bigint, text, text, text), unsuppress_1(text, text[]),
  lease_bind_1(bigint, text, int, text, bigint, bigint), release_bind_1(text, text), pause_lane_1(bigint, text),
  resume_lane_1(text),
  create_project_1(bigint, text, text, bigint), credit_1(bigint, text, bigint, text, text), rename_project_1(text, text),
  change_settings_1(text, text, text), revoke_key_1(bigint, text, text), record_key_use_1(bigint, text, bigint),
  add_key_1(bigint, text, text, bytea, text, text, text, bigint, int, boolean), lock_project_1(text),
  read_verification_1(bigint, text, text), check_verification_1(bigint, text, text, boolean),
  add_key_2(bigint, text, text, bytea, text, text, text, text, bigint, int, boolean),
  prune_ended_1(bigint), prune_messages_1(bigint, bigint[], text), replace_answers_1(json),
  -- What earlier steps left behind.
  submitted_1(bigint, text, text, text[], bigint), update_delivery_1(bigint);
DROP TYPE IF EXISTS verification_1;

-- The process that holds it, so that its bind is free once it is gone.
ALTER TABLE binds ADD COLUMN process text NOT NULL DEFAULT '';
