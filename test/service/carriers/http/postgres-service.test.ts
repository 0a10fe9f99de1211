import { describe } from 'vitest';
import { testOnPostgres } from '../../../support/test-engine.js';

// What of the gateways depends on the engine for many machines. Receipts: storage/conformance/receipts.ts.
describe('on PostgreSQL', async () => {
  testOnPostgres();
  await import('./instances.test.js');
  await import('./repeats.test.js');
});
