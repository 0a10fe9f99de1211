import { describe } from 'vitest';
import { testOnPostgres } from '../../support/test-engine.js';

// The same operations on the engine for many machines. Doubts and deferred messages: storage/conformance/.
describe('on PostgreSQL', async () => {
  testOnPostgres();
  await import('./caps.test.js');
  await import('./idempotency.test.js');
  await import('./keys.test.js');
  await import('./rate.test.js');
  await import('./verification.test.js');
  await import('../admin/reset.test.js');
});
