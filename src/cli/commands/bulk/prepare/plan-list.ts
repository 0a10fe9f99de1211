import { createReadStream } from 'node:fs';
import { parse } from 'node:path';
import type { Channel, Pricing } from '../../../../contract/index.js';
import { newRunId } from '../../../bulk/job/keys.js';
import { digestOf } from '../../../bulk/job/takers.js';
import {
  buildPlan,
  type PlanOptions,
  type PlanOutcome,
  type SentBefore,
} from '../../../bulk/plan/build-plan.js';
import type { MessageTemplates } from '../../../bulk/plan/composer.js';
import type { PlanMeta } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { counted } from '../../../text/wording.js';
import { currentAccount } from '../confirm/account.js';
import { listOptions } from '../next-command.js';
import { type BulkOptions, delimiterOf } from '../options.js';
import { absolutePath } from '../same-file.js';
import { askAboutInput, wantsVisibleOnly } from './ask-about-input.js';
import { keptOf } from './like.js';
import { moveBeside, rejectsPlaceIn } from './rejects.js';
import { newlyKnown } from './unknown-rows.js';

/** Everything that makes up a plan, besides the options. */
export interface PlanSource {
  channel: Channel;
  file: string;
  baseUrl: string;
  templates: MessageTemplates;
  pricing: Pricing | null;
  /** The rows of a job in place of a file, and its messages in place of templates. */
  rows?: { bytes(): AsyncIterable<Uint8Array>; composer: PlanOptions['composer']; path: string | undefined };
  /** The jobs that it is like, and the options of a job whose rows they are. */
  like?: PlanMeta['like'];
  options?: PlanMeta['options'];
  /** See `Source`. */
  restOf?: string | undefined;
}

/** The options, with what was found or answered while the list was planned: it is then planned anew. */
export interface PlanChoices extends BulkOptions {
  /** Ids of messages that are no longer unknown, for `--only unknown`. */
  known?: ReadonlySet<string>;
}

/**
 * Plans a list in a new folder. Returns 'anew' after it has changed `choices`: by a question about an encoding, a sheet
 * or hidden rows, or by deliveries that are known by now. Throws CliError (exit 8, or 14).
 */
export async function planList(
  context: Context,
  source: PlanSource,
  choices: PlanChoices,
  { folder, sentBefore }: { folder: string; sentBefore: SentBefore | null },
): Promise<PlanOutcome | 'anew'> {
  const { io, options } = context;
  const { file } = source;
  const reading = () => build(context, source, choices, { folder, sentBefore });
  const outcome = await io.withProgress('Reading the file', reading).catch(async (error: unknown) => {
    Object.assign(choices, await askAboutInput(io, error, file, choices));
    return 'anew' as const;
  });
  if (outcome === 'anew') return outcome;
  const asks = !options.yes && file !== '-' && io.canPrompt;
  if (outcome.hiddenRows > 0 && choices.visibleOnly === undefined && asks) {
    choices.visibleOnly = await wantsVisibleOnly(io, outcome);
    if (choices.visibleOnly) return 'anew';
  }
  if (choices.only?.includes('unknown') && choices.known === undefined && outcome.plan !== null) {
    choices.known = await newlyKnown(context, outcome.plan, choices.waitTimeout);
    if (choices.known.size > 0) {
      io.note(`${counted(choices.known.size, 'row')} left out: the delivery is now known`);
      return 'anew';
    }
  }
  await placeRejects(context, outcome, file, choices);
  return outcome;
}

async function build(
  { io, config, network, clock, signal }: Context,
  { file, rows, ...source }: PlanSource,
  choices: PlanChoices,
  { folder, sentBefore }: { folder: string; sentBefore: SentBefore | null },
): Promise<PlanOutcome> {
  const name = choices.job ?? (file === '-' ? 'stdin' : parse(file).name);
  const now = clock.now();
  const { exclude, excludeColumn: column } = choices;
  return buildPlan(
    { bytes: rows?.bytes() ?? io.files.bytes(file), source: file },
    {
      ...choices,
      ...source,
      like: source.like,
      options: source.options ?? keptFrom(config, choices),
      excluded:
        exclude === undefined ? undefined : { bytes: io.files.bytes(exclude), source: exclude, column },
      listOptions: listOptions(choices),
      folder,
      digestOf: (job) => digestOf(config.stateDirectory, job),
      composer: rows?.composer,
      path: rows !== undefined ? rows.path : file === '-' ? undefined : absolutePath(config, file),
      delimiter: delimiterOf(choices),
      // It identifies recent sends and the order of jobs, even if this machine's clock is wrong.
      createdAt: new Date(network.lastExchange?.serviceTime ?? now).toISOString(),
      run: choices.again ? newRunId() : null,
      account: await currentAccount(network),
      sentBefore,
      // A file named with --rejects is copied from the plan's folder.
      rejects: choices.rejects === undefined ? rejectsPlaceIn(config.stateDirectory, name, now) : undefined,
      signal,
    },
  );
}

/** The options for a later command, which may be run in another folder. */
function keptFrom(config: Context['config'], { exclude, ...choices }: PlanChoices): PlanMeta['options'] {
  if (exclude === undefined) return keptOf(choices);
  return keptOf({ ...choices, exclude: exclude === '-' ? exclude : absolutePath(config, exclude) });
}

/** Where `--rejects` says, else beside the list if possible. */
async function placeRejects(
  { io, config }: Pick<Context, 'io' | 'config'>,
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
