import { describe } from 'vitest';
import { testOnPostgres } from '../../../support/test-engine.js';

// The same instances on the engine for many machines.
describe('on PostgreSQL', async () => {
  testOnPostgres();
  await import('./instances.test.js');
  await import('./lanes.test.js');
  await import('./slow-lanes.test.js');
  await import('./turns.test.js');
});
