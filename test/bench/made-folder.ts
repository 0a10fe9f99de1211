import { randomUUID } from 'node:crypto';
import { defaultProject } from '../../src/service/admin/projects.js';
import { systemClock } from '../../src/service/clock.js';
import { openCore } from '../../src/service/core.js';

const batchSize = 1_000;
const callers = 64;
const text = 'Таны захиалга бэлэн боллоо.';
/** Older than what the caps count, so that it can be pruned. */
const age = 10 * 86_400_000;
const clock = { ...systemClock, now: () => systemClock.now() - age };

export const recipients = 10_900_000;
/** A different one for each index below `recipients`, in no order; none that is answered with faults. */
export const recipientOf = (index: number) => `${88_000_000 + ((index * 7_919_993) % recipients)}`;

/**
 * Sends so many messages with the service in a folder, a key for every five: of a batch of 1,000 or a single SMS.
 * Returns how many.
 */
export async function fillFolder(directory: string, first: number, count: number): Promise<number> {
  const keys = Math.floor(count / 5);
  const batches = Math.ceil((count - keys) / (batchSize - 1));
  const singles = Math.max(0, keys - batches);
  const core = await openCore({ directory, rates: 'off', clock });
  await core.administration.credit(count * 20);
  const caller = { projectId: defaultProject.id, keyId: 'bench' };
  let index = first;
  const next = () => recipientOf(index++);
  for (let batch = 0; batch < batches; batch += 1) {
    const to = Array.from({ length: batchSize }, next);
    await core.operations.sendSmsBulk({ caller, params: { to, text }, idempotencyKey: randomUUID() });
    await core.administration.idle();
  }
  let left = singles;
  const call = async () => {
    while (left > 0) {
      left -= 1;
      await core.operations.sendSms({ caller, params: { to: next(), text }, idempotencyKey: randomUUID() });
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  await core.close();
  return index - first;
}
