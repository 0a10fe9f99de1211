import { describe } from 'vitest';
import { testOnPostgres } from '../../../support/test-engine.js';

// The same gateways on the engine for many machines.
describe('on PostgreSQL', async () => {
  testOnPostgres();
  await import('./instances.test.js');
  await import('./receipts.test.js');
  await import('./repeats.test.js');
  await import('./service.test.js');
});
