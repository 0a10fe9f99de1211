/** What JSON looks like, for the helps of several commands; a test compares them with real answers. */
const message =
  '"id": "0b6f...2c", "status": "sent", "channel": "sms", "to": "99112233", "credits": 10, "batch_id": null, "error": null, "created_at": "2026-11-21T08:00:00.000Z", "sent_at": "2026-11-21T08:00:00.100Z", "parts": 1, "rate_multiplier": 1';

export const messageExample = `{${message}}`;
export const sentExample = `{${message}, "balance": 990}`;
export const emailExample =
  '{"id": "0b6f...2c", "status": "queued", "channel": "email", "to": "bat@example.mn", "credits": 2, "batch_id": null, "error": null, "created_at": "2026-11-21T08:00:00.000Z", "sent_at": null, "balance": 988}';
export const missingExample = '{"id": "77aa...01", "status": "not_found"}';

export const batchExample =
  '{"id": "51de...90", "status": "completed", "channel": "sms", "total": 1000, "sent": 998, "failed": 2, "credits": 10000, "created_at": "2026-11-21T08:00:00.000Z", "completed_at": "2026-11-21T08:00:40.000Z"}';

const verification = (status: string, verifiedAt: string) =>
  `"id": "7f9c...e1", "status": "${status}", "channel": "sms", "to": "99112233", "attempts_remaining": 5, "credits": 10, "created_at": "2026-11-21T08:00:00.000Z", "expires_at": "2026-11-21T08:10:00.000Z", "verified_at": ${verifiedAt}`;
export const createdExample = `{${verification('pending', 'null')}, "balance": 990}`;
export const pendingExample = `{${verification('pending', 'null')}}`;
export const verifiedExample = `{${verification('verified', '"2026-11-21T08:01:00.000Z"')}}`;

export const profileExample =
  '{"name": "default", "current": true, "base_url": "https://sms.example.mn/v1", "key": "stored", "key_command": null, "allow_http": false}';
