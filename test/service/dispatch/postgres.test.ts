import { describe } from 'vitest';
import { testOnPostgres } from '../../support/test-engine.js';

// The same dispatcher on the engine for many machines.
describe('on PostgreSQL', async () => {
  testOnPostgres();
  await import('./crash.test.js');
  await import('./later.test.js');
  await import('./pause.test.js');
});
