import type { PrintedCommand } from '../../config/printed-command.js';
import type { Context } from '../../context.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { counted } from '../../text/wording.js';
import { type JobRow, jobRows, stateText } from './job-rows.js';

/** What a command does with a job, and which jobs are possible. */
export interface JobSelection {
  /** `resume` */
  verb: string;
  fits(row: JobRow): boolean;
  /** Jobs that the command refuses by name: if there is no other, the first is returned, so that it says why. */
  refuses?(row: JobRow): boolean;
  /** The command for a job that would be possible if this run used its service. */
  elsewhere?(row: JobRow): PrintedCommand | null;
}

const mostNamed = 10;

/**
 * The only possible job; asks on a terminal if there are several. Throws CliError: exit 12 for none, 2 for several
 * without a terminal.
 */
export async function chosenJob(
  context: Pick<Context, 'io' | 'config' | 'clock'>,
  { verb, fits, refuses, elsewhere }: JobSelection,
): Promise<string> {
  const { io } = context;
  const found: JobRow[] = [];
  let refused: string | null = null;
  let other: PrintedCommand | null = null;
  for await (const row of jobRows(context, ({ message }) => io.warn(message))) {
    if (fits(row)) found.push(row);
    else if (refuses?.(row)) refused ??= row.job;
    else other ??= elsewhere?.(row) ?? null;
  }
  const [first] = found;
  if (first === undefined) {
    if (refused !== null) return refused;
    throw new CliError('not_found', exits.missing, `there is no job to ${verb}`, {
      hint: other === null ? 'See: `urtuu jobs list`' : `There is one for another service: ${other}`,
    });
  }
  if (found.length === 1) return first.job;
  if (!io.canPrompt) throw tooMany(verb, found);
  const width = Math.max(...found.map(({ job }) => job.length));
  return (await io.prompts()).choose(
    `Which job to ${verb}?`,
    found.map((row) => ({ name: `${row.job.padEnd(width)}  ${stateText(row)}`, value: row.job })),
  );
}

function tooMany(verb: string, found: readonly JobRow[]): CliError {
  const named = found.slice(0, mostNamed).map((row) => `${row.job} (${stateText(row)})`);
  const more = found.length > named.length ? `, and ${found.length - named.length} more` : '';
  return usageError(
    `missing: <job>; ${counted(found.length, 'job')} match`,
    `To ${verb} one, name it: ${named.join(', ')}${more}`,
  );
}
