-- What the service reads in statements of its own.
DROP FUNCTION IF EXISTS depth_1(bigint), count_unfinished_1(),
  -- What earlier releases called, which no longer run beside this one.
  has_due_1(bigint), finalize_1(bigint, json),
  receive_1(bigint, text, text, text, text, text, bigint, bigint, int), reset_1(bigint, bigint, bigint),
  stop_batch_1(bigint, text, text, text), take_turns_1(bigint, text, double precision, int, int, double precision),
  mark_1(bigint, json), claim_2(bigint, text, bigint, int, text, int, json, bigint, int),
  has_others_1(bigint, text, text, bigint, bigint);
