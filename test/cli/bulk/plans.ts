import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { PlanOutcome } from '../../../src/cli/bulk/plan/build-plan.js';
import { planIn, type TestPlan } from './plan-in.js';

export { collect, planned, quickDisk, requestsOf, rowsOf, type TestPlan } from './plan-in.js';

/** A folder that goes away with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-plan-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Plans a CSV text (or its bytes) in a folder of its own. */
export function plan(csv: string | Uint8Array, test: TestPlan = {}): Promise<PlanOutcome> {
  return planIn(test.folder ?? join(temporaryFolder(), 'plan'), csv, test);
}

/** What `plan` throws; an error that is no refusal of the input fails the test elsewhere. */
export async function refusal(csv: string | Uint8Array, test: TestPlan = {}): Promise<unknown> {
  try {
    await plan(csv, test);
  } catch (error) {
    return error;
  }
  throw new Error('it was planned');
}
