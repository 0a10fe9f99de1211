import { describe } from 'vitest';
import { testOnPostgres } from '../support/test-engine.js';

// The same rules, on the engine for many machines.
describe('on PostgreSQL', async () => {
  testOnPostgres();
  await import('./answers.test.js');
  await import('./email.test.js');
  await import('./idempotency.test.js');
  await import('./keys.test.js');
  await import('./limits.test.js');
  await import('./sms.test.js');
  await import('./verification.test.js');
});
