import { cpuTime } from '../../support/cpu-time.js';
import { seededRandom } from '../../support/random.js';
import { type FuzzFindings, heapNow } from './pdu-fuzz.js';

/** Milliseconds of cpu: no input takes longer. */
const slowMs = 250;

export interface Dice {
  random: () => number;
  /** A whole number below `most`. */
  upTo: (most: number) => number;
  one: <Value>(values: readonly Value[]) => Value;
}

/** A text into which some of the words were written. */
export function changedText(text: string, words: readonly string[], { upTo, one }: Dice): string {
  let changed = text;
  for (let changes = 1 + upTo(4); changes > 0; changes -= 1) {
    const at = upTo(changed.length);
    changed = changed.slice(0, at) + one(words).repeat(1 + upTo(3)) + changed.slice(at + upTo(8));
  }
  return changed;
}

/** Plays so many inputs: `untrue` counts those of which `wrongIn` says what was read as something else. */
export async function playInputs<Input>(
  seed: number,
  inputs: number,
  made: (dice: Dice) => Input,
  wrongIn: (input: Input) => string | null | Promise<string | null>,
  textOf: (input: Input) => string,
): Promise<FuzzFindings & { untrue: number }> {
  const random = seededRandom(seed);
  const upTo = (most: number) => Math.floor(random() * most);
  const dice: Dice = { random, upTo, one: (values) => values[upTo(values.length)] as (typeof values)[0] };
  const findings = { inputs, crashes: 0, slow: 0, deaf: 0, grown: 0, untrue: 0, example: '' };
  const before = heapNow();
  for (let count = 0; count < inputs; count += 1) {
    const input = made(dice);
    const note = (problem: string) => {
      if (findings.example === '') findings.example = `${problem} for ${textOf(input).slice(0, 200)}`;
    };
    const started = cpuTime();
    try {
      const wrong = await wrongIn(input);
      if (wrong !== null) {
        findings.untrue += 1;
        note(wrong);
      }
    } catch (error) {
      findings.crashes += 1;
      note(String(error));
    }
    if (cpuTime() - started > slowMs) {
      findings.slow += 1;
      note('slow');
    }
  }
  findings.grown = Math.max(0, Math.round((heapNow() - before) / 1_000_000));
  return findings;
}
