/** Whether this is `npm run test:all`, which plays in full what `npm test` plays in part. */
export const isTestAll = process.env.URTUU_TEST_ALL === '1';
