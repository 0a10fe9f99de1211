import { expect, it } from 'vitest';
import { countInParts } from '../../../src/service/storage/insights.js';

it('a count lets other work run after each part', async () => {
  const order: string[] = [];
  setImmediate(() => order.push('other'));
  await countInParts(async () => {
    order.push('part');
    return { counts: [], next: order.length < 4 ? 1 : null };
  });
  expect(order).toEqual(['part', 'other', 'part', 'part']);
});
