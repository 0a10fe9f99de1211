import { expect, it } from 'vitest';
import { CreditSums } from '../../../src/cli/commands/jobs/credit-sums.js';

async function* rows() {
  for (const credits of [10, 20, 30]) yield { base_url: 'sandbox', credits };
}

it('is a total only of all rows: a closed pipe ends them early', async () => {
  const [all, some] = [new CreditSums(), new CreditSums()];
  for await (const _ of all.of(rows()));
  for await (const _ of some.of(rows())) break;
  expect([all.isWhole, all.text]).toEqual([true, '60 credits']);
  expect(some.isWhole).toBe(false);
});
