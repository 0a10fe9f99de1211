/** JSON in the help of commands; a test compares it with real results. */
const sent =
  '"id": "0b6f...2c", "status": "sent", "channel": "sms", "to": "99112233", "parts": 1, "credits": 10, "error": null, "created_at": "2026-11-21T08:00:00.000Z", "sent_at": "2026-11-21T08:00:00.100Z", "batch_id": null';

export const messageExample = `{${sent}, "delivery": null, "rate_multiplier": 1, "carrier_code": null}`;
export const sentExample = `{${sent}, "rate_multiplier": 1, "balance": 990}`;
export const proofExample = `[{"row": 2, ${sent}, "rate_multiplier": 1, "balance": 990}]`;
const email = (status: string, sentAt: string) =>
  `"id": "0b6f...2c", "status": "${status}", "channel": "email", "to": "bat@example.mn", "credits": 2, "error": null, "created_at": "2026-11-21T08:00:00.000Z", "sent_at": ${sentAt}, "batch_id": null`;
export const emailExample = `{${email('queued', 'null')}, "balance": 988}`;
export const emailProofExample = `[{"row": 2, ${email('queued', 'null')}, "balance": 988}]`;
export const emailWaitExample = `{${email('sent', '"2026-11-21T08:00:02.000Z"')}, "delivery": null, "carrier_code": null, "balance": 988}`;
export const missingExample = '{"id": "77aa...01", "status": "not_found"}';

export const batchExample =
  '{"id": "51de...90", "status": "completed", "channel": "sms", "total": 1000, "sent": 998, "failed": 2, "unknown": 0, "credits": 10000, "created_at": "2026-11-21T08:00:00.000Z", "completed_at": "2026-11-21T08:00:40.000Z", "pruned_at": null}';

const verification = (status: string, verifiedAt: string) =>
  `"id": "7f9c...e1", "status": "${status}", "channel": "sms", "to": "99112233", "attempts_remaining": 5, "credits": 10, "created_at": "2026-11-21T08:00:00.000Z", "expires_at": "2026-11-21T08:10:00.000Z", "verified_at": ${verifiedAt}`;
export const createdExample = `{${verification('pending', 'null')}, "balance": 990}`;
export const pendingExample = `{${verification('pending', 'null')}}`;
export const verifiedExample = `{${verification('verified', '"2026-11-21T08:01:00.000Z"')}}`;

export const profileExample =
  '{"name": "default", "current": true, "base_url": "https://sms.example.mn/v1", "key": "stored", "key_command": null, "allow_http": false, "local_to": null}';

const queued =
  '"sent": 0, "unknown": 0, "queued": 1000, "failed": 0, "suppressed": 0, "rejected": 0, "moved": 0, "in_doubt": 0, "pending": 0, "moved_to": []';
const summary = (credits: number) =>
  `{"job": "july-offer", "planned": 1000, "accepted": 1000, ${queued}, "merged": 3, "excluded": 0, "later": 0, "credits": ${credits}, "balance": ${100_000 - credits}, "batches": [{"id": "51de...90", "recipients": 1000, "credits": ${credits}, "sent": null, "failed": null, "unknown": null, "suppressed": null}], "exit": 0}`;
export const summaryExample = summary(10_000);
export const emailSummaryExample = summary(2_000);

const preflight = (
  channel: string,
  column: string,
  kind: string,
  parts: number,
  credits: number,
  message: string,
) =>
  `{"job": "july-offer", "channel": "${channel}", "to_column": "${column}", "delimiter": ",", "sheet": null, "recipients": 1000, "merged": 3, "rejected": 0, "repaired": 0, "requests": 1, "batches": 1, "singles": 0, "cost": [{"kind": "${kind}", "recipients": 1000, "parts": ${parts}, "credits": ${credits}}], "parts": ${parts}, "credits": ${credits}, "balance": 100000, "sent_before": 0, "skips_sent": false, "seconds": 0, "messages": 1, "first_message": ${message}, "longest_message": ${message}, "not_matched": 0, "excluded": 0, "later": 0, "nameless_columns": 0, "short_rows": 0, "suppressed": 0}`;
export const preflightExample = preflight(
  'sms',
  'phone',
  'cyrillic',
  1_000,
  10_000,
  '{"to": "99112233", "subject": null, "text": "Сайн уу", "parts": 1}',
);
export const emailPreflightExample = preflight(
  'email',
  'email',
  'email',
  0,
  2_000,
  '{"to": "bat@example.mn", "subject": "July", "text": "Сайн уу", "parts": null}',
);

const job = `"job": "july-offer", "state": "finished", "plan": "4f2a91c0", "reason": null, "pid": null, "rate": null, "seconds_left": null, "channel": "sms", "source": "customers.csv", "created_at": "2026-11-21T08:00:00.000Z", "planned": 1000, "accepted": 1000, ${queued}, "excluded": 0, "credits": 10000, "base_url": "http://127.0.0.1:7788/v1", "ended_at": "2026-11-21T08:00:00.600Z", "exit": 0`;
export const jobExample = `{${job}}`;
export const cancelledExample = jobExample
  .replace('"finished"', '"unfinished"')
  .replace('"reason": null', '"reason": "cancelled"')
  .replace('"accepted": 1000', '"accepted": 400')
  .replace('"queued": 1000', '"queued": 400')
  .replace('"pending": 0', '"pending": 600')
  .replace('"credits": 10000', '"credits": 4000')
  .replace('"exit": 0', '"exit": 5');
export const jobDetailsExample = `{${job}, "batches": [{"id": "51de...90", "recipients": 1000, "credits": 10000, "sent": null, "failed": null, "unknown": null, "suppressed": null}]}`;

/** Of a row of a report, after the columns of the list. */
export const reportedExample =
  '[{"message_id": "0b6f...2c", "batch_id": null, "status": "sent", "error_code": null, "credits": 10, "line": 2, "delivery": null, "job": "july-offer"}]';
