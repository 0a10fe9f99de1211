-- What the service reads in statements of its own.
DROP FUNCTION IF EXISTS depth_1(bigint), count_unfinished_1();
