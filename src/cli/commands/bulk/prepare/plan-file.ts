import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { parse } from 'node:path';
import type { Channel, Pricing } from '../../../../contract/index.js';
import type { Delimiter } from '../../../bulk/input/delimiter.js';
import { newRunId } from '../../../bulk/job/keys.js';
import { buildPlan, type PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { MessageTemplates } from '../../../bulk/plan/composer.js';
import type { SentIndex } from '../../../bulk/plan/sent-index.js';
import type { Context } from '../../../context.js';
import { visible } from '../../../terminal/sanitise.js';
import { counted } from '../../../text/wording.js';
import { currentAccount } from '../confirm/account.js';
import { type BulkOptions, delimiterOf } from '../options.js';
import { absolutePath } from '../same-file.js';
import { askAboutInput } from './ask-about-input.js';
import { rejectsPlaceIn } from './rejected-rows.js';
import { moveBeside } from './rejects-beside.js';
import { isOnPurpose } from './sent-before.js';

type PlanContext = Pick<Context, 'io' | 'config' | 'network' | 'clock' | 'options' | 'signal'>;

/** Everything that makes up a plan, besides the options. */
export interface PlanSource {
  channel: Channel;
  file: string;
  baseUrl: string;
  templates: MessageTemplates;
  pricing: Pricing | null;
  /** A new folder for the plan. */
  folder: string;
  recent: SentIndex | null;
  /** Ids of messages that are no longer unknown, for `--only unknown`. */
  known?: ReadonlySet<string>;
}

/**
 * Plans a file. On a terminal it asks for an encoding, sheet or rows that it cannot determine. Throws CliError (exit
 * 8).
 */
export async function planFile(
  context: PlanContext,
  source: PlanSource,
  options: BulkOptions,
): Promise<PlanOutcome> {
  const { io } = context;
  const delimiter = delimiterOf(options);
  try {
    const outcome = await io.withProgress('Reading the file', () =>
      build(context, source, { ...options, delimiter }),
    );
    if (await wantsVisibleOnly(context, outcome, source.file, options)) {
      await rm(source.folder, { recursive: true, force: true });
      return await planFile(context, source, { ...options, visibleOnly: true });
    }
    await placeRejects(context, outcome, source.file, options);
    return outcome;
  } catch (error) {
    const answer = await askAboutInput(io, error, source.file, options);
    return planFile(context, source, { ...options, ...answer });
  }
}

async function build(
  { io, config, network, clock, signal }: PlanContext,
  { file, recent, ...source }: PlanSource,
  options: Omit<BulkOptions, 'delimiter'> & { delimiter: Delimiter | undefined },
): Promise<PlanOutcome> {
  const { toColumn, encoding, delimiter, headerless, headerRow, sheet, visibleOnly } = options;
  const { only, allowRepeats, skipInvalid } = options;
  const name = options.job ?? (file === '-' ? 'stdin' : parse(file).name);
  const now = clock.now();
  return buildPlan(
    { bytes: io.files.bytes(file), source: file },
    {
      ...source,
      path: file === '-' ? undefined : absolutePath(config, file),
      toColumn,
      encoding,
      delimiter,
      headerless,
      headerRow,
      sheet,
      visibleOnly,
      only,
      allowRepeats,
      skipInvalid,
      // It identifies recent sends and the order of jobs, even if this machine's clock is wrong.
      createdAt: new Date(network.lastExchange?.serviceTime ?? now).toISOString(),
      run: options.again ? newRunId() : null,
      account: await currentAccount(network),
      sentBefore:
        recent === null
          ? null
          : { index: recent, skip: options.skipSent ?? false, onlyRejected: isOnPurpose(only) },
      // A file named with --rejects is copied from the plan's folder.
      rejects: options.rejects === undefined ? rejectsPlaceIn(config.stateDirectory, name, now) : undefined,
      signal,
    },
  );
}

/** A person who filtered a list may have meant to send only to the visible rows. */
async function wantsVisibleOnly(
  { io, options: { yes } }: PlanContext,
  { sheet, hiddenRows }: PlanOutcome,
  file: string,
  { visibleOnly }: Pick<BulkOptions, 'visibleOnly'>,
): Promise<boolean> {
  if (hiddenRows === 0 || visibleOnly || yes || file === '-' || !io.canPrompt) return false;
  const question = `Sheet ${visible(sheet ?? '')} has ${counted(hiddenRows, 'hidden row')}. Which rows are meant?`;
  const choices = [
    { name: 'Only the visible rows', value: true },
    { name: 'All rows', value: false },
  ];
  return (await io.prompts()).choose(question, choices);
}

/** Where `--rejects` says, else beside the list if possible. */
async function placeRejects(
  { io, config }: PlanContext,
  { rejects: written }: PlanOutcome,
  list: string,
  { rejects, report }: BulkOptions,
): Promise<void> {
  if (written.file === null) return;
  if (rejects === undefined) {
    const taken = report === undefined ? undefined : absolutePath(config, report);
    if (list !== '-') written.file = await moveBeside(absolutePath(config, list), written.file, taken);
    return;
  }
  await io.files.write(rejects, createReadStream(written.file, 'utf8'));
  written.file = absolutePath(config, rejects);
}
