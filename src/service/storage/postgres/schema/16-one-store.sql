-- What the service writes in statements of its own.
DROP FUNCTION IF EXISTS add_sign_in_1(bigint, bytea, int, boolean, bigint), open_session_1(bigint, bytea, bytea, bigint),
  find_session_1(bigint, bytea), dashboard_url_1();
