import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodePlanDisk, type PlanDisk } from '../../../../src/cli/bulk/plan/files/plan-disk.js';
import { openPlan } from '../../../../src/cli/bulk/plan/files/plan-reader.js';
import { plan, refusal, temporaryFolder } from '../plans.js';

type Operation = keyof PlanDisk;
const csv = 'phone,n\n99000001,a\n9,b\n99000001,a\n88000001,b\n88000002,c\n';

/** A disk on which the n-th call of one operation fails. */
function failing(operation: Operation, at: number, fault: Error): PlanDisk {
  let calls = 0;
  const call = nodePlanDisk[operation] as (...args: unknown[]) => unknown;
  return {
    ...nodePlanDisk,
    sync: () => undefined,
    [operation]: (...args: unknown[]) => {
      calls += 1;
      if (calls === at) throw fault;
      return operation === 'sync' ? undefined : call(...args);
    },
  };
}

describe('a disk fault at any operation is what the planning ends with, and leaves no plan', () => {
  it.each<Operation>(['makeFolder', 'open', 'write', 'read', 'sync', 'close', 'rename', 'remove'])(
    '%s',
    async (operation) => {
      let faults = 0;
      for (let at = 1; ; at += 1) {
        const fault = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        const folder = join(temporaryFolder(), 'plan');
        const options = { folder, text: '{n}', skipInvalid: true, disk: failing(operation, at, fault) };
        const outcome = await plan(csv, options).catch((error: unknown) => error);
        if (outcome !== fault) {
          // This operation is called less often than that: the plan stands.
          expect(outcome).toMatchObject({ rejects: { count: 1 } });
          expect((await openPlan(folder)).meta.recipients).toBe(3);
          break;
        }
        faults += 1;
        const left = existsSync(folder) ? readdirSync(folder) : [];
        expect(left).not.toContain('plan.json');
      }
      expect(faults).toBeGreaterThan(0);
    },
  );

  it('short writes are finished', async () => {
    const disk: PlanDisk = {
      ...nodePlanDisk,
      sync: () => undefined,
      write: (file, bytes) => nodePlanDisk.write(file, bytes.subarray(0, 7)),
    };
    const outcome = await plan(csv, { text: '{n}', skipInvalid: true, disk });
    expect(outcome.meta.digest).toBe((await plan(csv, { text: '{n}', skipInvalid: true })).meta.digest);
  });

  it('a source that fails ends it with its own error', async () => {
    expect(await refusal('phone\n99000001\n', { signal: AbortSignal.abort() })).toMatchObject({
      name: 'AbortError',
    });
  });

  it('every file and then the folder are synced, plan.json last of the files', async () => {
    const names = new Map<number, string>();
    const synced: string[] = [];
    const disk: PlanDisk = {
      ...nodePlanDisk,
      open(path, flags) {
        const file = nodePlanDisk.open(path, flags);
        names.set(file, path.split('/').at(-1) ?? '');
        return file;
      },
      sync: (file) => void synced.push(names.get(file) ?? ''),
    };
    await plan('phone\n99000001\n', { disk });
    expect(synced).toEqual([
      'bodies',
      'chunks',
      'lines',
      'places',
      'errors',
      'input.csv',
      'plan.json',
      'plan',
    ]);
  });
});
