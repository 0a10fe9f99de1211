import { onTestFinished } from 'vitest';
import { Desk } from '../../../support/desk.js';
import type { ProjectOptions } from '../../../support/fake-project.js';
import { numbers } from '../../bulk/memory-plan.js';

/** A machine with list.csv, whose rows are a number and a name, and a project; gone after the test. */
export function desk(rows: readonly string[], options: ProjectOptions = {}): Desk {
  const made = new Desk(options);
  onTestFinished(() => made.remove());
  made.write('list.csv', ['phone,name', ...rows]);
  return made;
}
export const people = (count: number) => numbers(count).map((number, index) => `${number},Bat ${index}`);
export const constant = "sms bulk list.csv --text 'Hello' --job july --yes";
export const personal = "sms bulk list.csv --text 'Hello {name}' --job july --yes";
/** Sends as far as the balance goes. */
export const partly = `${personal} --allow-partial`;
export const figures = (stdout: string) => JSON.parse(stdout) as Record<string, unknown>;
