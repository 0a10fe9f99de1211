import type { Command } from 'commander';
import { type Channel, normalizeRecipient } from '../../../../contract/index.js';
import type { PrintedCommand } from '../../../config/printed-command.js';
import type { Context } from '../../../context.js';
import { usageError } from '../../../errors.js';
import { readRecipient } from '../../../input/recipients.js';
import { maskedText } from '../../../output/mask.js';
import { isRepeatable } from '../../../single/repeat.js';
import type { BulkOptions } from '../options.js';
import type { PlanChoices, PlanSource } from '../prepare/plan-list.js';

/** Sends messages of a job to one person, before the job. */
export interface Proof {
  to: string;
  /** The row whose message it is, as errors number rows; without it, those with the first and the longest one. */
  row: number | undefined;
  /** The options as they were typed. */
  typed: readonly TypedOption[];
}

/** `--rate` with its value, or `--gsm` without one. */
type TypedOption = readonly [name: string, value?: string];

/** Collects the options of a command as they are typed, without the global ones. */
export function typedOptions(command: Command): TypedOption[] {
  const typed: TypedOption[] = [];
  for (const option of command.options) {
    const { hidden, long } = option;
    if (hidden || !long) continue;
    command.on(`option:${option.name()}`, (value?: string | null) => {
      typed.push(value === undefined || value === null ? [long] : [long, value]);
    });
  }
  return typed;
}

const notWith = { hold: '--hold', retryFailed: '--retry-failed' };

/** Null without `--proof`. Throws CliError: exit 2 for options that make no sense with it, 8 for its recipient. */
export function proofOf(
  channel: Channel,
  given: Pick<BulkOptions, 'proof' | 'proofRow'>,
  typed: readonly TypedOption[],
): Proof | null {
  const { proof: written, proofRow: row } = given;
  if (written === undefined) {
    if (row === undefined) return null;
    throw usageError('--proof-row needs --proof', 'Add --proof.');
  }
  for (const [name, option] of Object.entries(notWith))
    if (name in given)
      throw usageError(`--proof and ${option} cannot be combined`, 'Nothing was sent. Send the proof first.');
  const kind = channel === 'sms' ? 'number' : 'address';
  return { to: normalizeRecipient(readRecipient(kind, written, '--proof: ')), row, typed };
}

const ofProof = ['--proof', '--proof-row'];

/**
 * The command of the job, or of its proof if it `proves`, with what was answered at prompts; null if it cannot be typed
 * again. `again`: whether with `--again`, which may have been meant for the proof alone.
 */
export function commandOf(
  { io: { printer }, config, options: { yes } }: Pick<Context, 'io' | 'config' | 'options'>,
  { typed }: Proof,
  { channel, file, templates }: PlanSource,
  choices: PlanChoices,
  { again, proves = false }: { again: boolean; proves?: boolean },
): PrintedCommand | null {
  const isTyped = (name: string) => typed.some(([each]) => each === name);
  const isLike = isTyped('--like');
  const answers: [name: string, value: string | undefined, isOpen: boolean][] = [
    ['--subject', templates.subject, !isLike],
    ['--text', templates.text, !isLike && !isTyped('--text-file')],
    ['--encoding', choices.encoding, true],
    ['--sheet', choices.sheet, true],
  ];
  const answered = answers.flatMap(([name, value, isOpen]): TypedOption[] =>
    isOpen && value !== undefined && !isTyped(name) ? [[name, value]] : [],
  );
  if (choices.visibleOnly && !isTyped('--visible-only')) answered.push(['--visible-only']);
  const kept = typed.filter(([name]) => name !== '--again' && (proves || !ofProof.includes(name)));
  const all = [...kept, ...answered, ...(again ? [['--again'] as const] : [])];
  const words = all.flatMap(([name, value]) => {
    if (value === undefined) return [name];
    return value.startsWith('-') && value !== '-' ? [`${name}=${value}`] : [name, value];
  });
  const isShown = (word: string) => !printer.mask || maskedText(word) === word;
  if (!isRepeatable([file, ...words]) || ![file, ...words].every(isShown)) return null;
  return config.commandLine([channel, 'bulk', file, ...words], { '--yes': yes });
}
