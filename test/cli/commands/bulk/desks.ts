import { setImmediate } from 'node:timers/promises';
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

/** The time of a job and of a command beside it: it passes for both alike, however slow the machine is. */
export class SharedTime {
  #passed = 0;
  #isStarting = false;
  #isOver = false;

  readonly job = {
    sleep: async (milliseconds: number) => {
      do await setImmediate();
      while (this.#isStarting);
      this.#passed += milliseconds;
    },
  };

  readonly beside = {
    sleep: async (milliseconds: number) => {
      this.#isStarting = false;
      const end = this.#passed + milliseconds;
      while (this.#passed < end && !this.#isOver) await setImmediate();
    },
  };

  /** When the other command starts: until its first pause, no time passes. */
  start(): void {
    this.#isStarting = true;
  }

  /** When the job has ended. */
  end(): void {
    this.#isOver = true;
  }
}

export const people = (count: number) => numbers(count).map((number, index) => `${number},Bat ${index}`);
export const constant = "sms bulk list.csv --text 'Hello' --job july --yes";
export const personal = "sms bulk list.csv --text 'Hello {name}' --job july --yes";
/** Sends as far as the balance goes. */
export const partly = `${personal} --allow-partial`;
export const figures = (stdout: string) => JSON.parse(stdout) as Record<string, unknown>;
/** The command that a line on standard error ends with, without the name of the program. */
export const printed = (stderr: string) =>
  /urtuu ((?:sms|email|jobs) .*)\n$/.exec(stderr)?.[1] ?? 'no command';

/** A desk whose job `july` has sent two of five messages, and that can pay for the rest now. */
export async function partlySent(line = partly): Promise<Desk> {
  const here = desk(people(5), { credits: 25 });
  await here.run(line);
  here.project.balance = 1_000;
  return here;
}
