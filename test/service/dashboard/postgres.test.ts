import { describe } from 'vitest';
import { testOnPostgres } from '../../support/test-engine.js';

// The same pages, from the engine for many machines.
describe('on PostgreSQL', async () => {
  testOnPostgres();
  await import('./access.test.js');
  await import('./pages.test.js');
});
