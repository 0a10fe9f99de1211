import { UrtuuError } from '../../client/index.js';
import type { Context } from '../context.js';
import { hints } from '../error-hints.js';
import { CliError } from '../errors.js';
import { type ExitCode, exits } from '../exit-codes.js';
import type { View } from '../output/view.js';
import type { Missing } from '../output/views.js';
import { counted } from '../text/wording.js';
import {
  neverRead,
  notFinal,
  readUntilFinal,
  unknownError,
  type WaitOptions,
  waitingReader,
} from './wait.js';

/** How to look up one kind of resource. */
export interface Resource<State> {
  /** `message`, `batch`. */
  noun: string;
  read(id: string): Promise<State>;
  isFinal(state: State): boolean;
  /** For the progress display of a wait. */
  progress?(state: State): { text: string; done: number; total: number };
  failed(state: State): 'none' | 'some' | 'all';
  /** How many sent messages may or may not have arrived. */
  unknown(state: State): number;
  /** Why a final state cannot be trusted; null if it can. */
  contradiction?(state: State): string | null;
}

const resendHint = 'To send it again, use a new idempotency key.';
const unknownHint =
  'The outcome of the others is unknown. Check the dashboard before you send to them again.';

const newTally = () => ({
  ...{ found: 0, missing: 0, open: 0, someFailed: 0, allFailed: 0, unknown: 0 },
  contradiction: null as string | null,
});
type Tally = ReturnType<typeof newTally>;

const maxInFlight = 10;

export type LookupContext = Pick<Context, 'io' | 'clock' | 'signal'>;

/**
 * Looks up many ids, several at a time, and yields them in the order of the ids. Throws at the end if ids are
 * missing, and with `--wait` if some failed or are not final.
 */
export async function* lookUp<State extends object>(
  context: LookupContext,
  resource: Resource<State>,
  ids: readonly string[],
  options: WaitOptions,
): AsyncGenerator<State | Missing> {
  const progress = context.io.progress();
  const reader = waitingReader(context, options);
  const tally = newTally();
  const lookUpOne = async (id: string): Promise<State | Missing> => {
    const read = () => orMissing(id, () => resource.read(id), ids.length > 1);
    if (!options.wait) return read();
    const readWithProgress = async () => {
      const state = await read();
      const step = ids.length === 1 && !isMissing(state) ? resource.progress?.(state) : undefined;
      if (step !== undefined) progress.update(step.text, step);
      return state;
    };
    const isFinal = (state: State | Missing) => isMissing(state) || resource.isFinal(state);
    const { state, problem } = await readUntilFinal(reader, null, isFinal, readWithProgress);
    if (problem !== null) throw problem.error;
    if (state === null) throw neverRead(`the ${resource.noun} ${id}`);
    return state;
  };
  const window: Promise<State | Missing>[] = [];
  try {
    for (let next = 0, done = 0; done < ids.length; done += 1) {
      while (next < ids.length && window.length < maxInFlight) {
        const result = lookUpOne(ids[next] as string);
        result.catch(() => {}); // Awaited later, perhaps after an earlier one has failed.
        window.push(result);
        next += 1;
      }
      progress.update(`Reading ${resource.noun} ${done + 1}`, { done, total: ids.length });
      const row = (await window.shift()) as State | Missing;
      count(tally, row, resource);
      yield row;
    }
  } finally {
    progress.stop();
  }
  const problem = verdict(tally, resource.noun, options.wait === true);
  if (problem !== null) throw problem;
}

/** Looks up ids and prints them: one as a record, several as a list. */
export async function show<State extends object>(
  context: LookupContext,
  view: View<State | Missing>,
  resource: Resource<State>,
  ids: readonly string[],
  options: WaitOptions & { array?: boolean },
): Promise<void> {
  const rows = lookUp(context, resource, ids, options);
  const { printer } = context.io;
  const isSingle = ids.length === 1 && !(options.array && printer.format === 'json');
  await (isSingle ? printer.single(view, rows) : context.io.printAll(view, rows));
}

export function isMissing(row: object): row is Missing {
  return 'status' in row && row.status === 'not_found';
}

async function orMissing<State>(
  id: string,
  read: () => Promise<State>,
  several: boolean,
): Promise<State | Missing> {
  try {
    return await read();
  } catch (error) {
    if (several && error instanceof UrtuuError && error.code === 'not_found')
      return { id, status: 'not_found' };
    throw error;
  }
}

function count<State extends object>(tally: Tally, row: State | Missing, resource: Resource<State>): void {
  if (isMissing(row)) {
    tally.missing += 1;
    return;
  }
  tally.found += 1;
  if (!resource.isFinal(row)) tally.open += 1;
  else tally.contradiction ??= resource.contradiction?.(row) ?? null;
  const failed = resource.failed(row);
  if (failed === 'some') tally.someFailed += 1;
  if (failed === 'all') tally.allFailed += 1;
  tally.unknown += resource.unknown(row);
}

function verdict(tally: Tally, noun: string, waited: boolean): CliError | null {
  const { found, missing, open, someFailed, allFailed, unknown, contradiction } = tally;
  const problem = (code: string, exit: ExitCode, message: string, hint: string) =>
    new CliError(code, exit, message, { hint });
  const all = found + missing;
  if (found === 0)
    return problem('not_found', exits.missing, `none of the ${all} ids were found`, hints.not_found);
  if (waited && contradiction !== null) return problem('in_doubt', exits.doubt, contradiction, unknownHint);
  if (waited && open > 0) return notFinal(counted(open, noun), open);
  if (waited && allFailed === all)
    return problem(
      'failed',
      exits.notSent,
      `${all === 1 ? `the ${noun}` : `all ${counted(all, noun)}`} failed: not sent, refunded`,
      resendHint,
    );
  if (waited && someFailed + allFailed > 0) {
    return problem(
      'partly_failed',
      exits.partly,
      'some messages failed; they were not sent and were refunded',
      resendHint,
    );
  }
  if (waited && unknown > 0) return unknownError(unknown);
  if (missing > 0) {
    const what = `${missing} of ${all} ids were not found`;
    return problem('partly_missing', exits.partly, what, hints.not_found);
  }
  return null;
}
