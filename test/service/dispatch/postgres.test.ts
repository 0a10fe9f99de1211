import { describe } from 'vitest';
import { testOnPostgres } from '../../support/test-engine.js';

// The same dispatcher on the engine for many machines. Deferred messages: storage/conformance/dispatch.ts.
describe('on PostgreSQL', async () => {
  testOnPostgres();
  await import('./crash.test.js');
  await import('./pause.test.js');
});
