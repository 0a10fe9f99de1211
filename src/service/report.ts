import type { Clock } from './clock.js';
import { timestamp } from './timestamp.js';

/** An unexpected error inside the service, as it goes to a log: without keys, texts, codes and whole numbers. */
export interface Fault {
  /** ISO 8601, UTC. */
  time: string;
  /** `warning` for what is tried again by itself. */
  level: 'error' | 'warning';
  /** The request that it ended; null in the background. */
  request_id: string | null;
  /** The error's `code`, else its name. */
  code: string;
  /** What it says and where, with that of its causes. */
  stack: string;
}

/** Tells of an error once, however many messages or requests it ended. */
export type Report = (error: unknown, about?: { level?: Fault['level']; requestId?: string }) => void;

export function createReport(clock: Clock, sink: (fault: Fault) => void): Report {
  const told = new WeakSet<object>();
  return (error, { level = 'error', requestId = null } = {}) => {
    if (error instanceof Error) {
      if (told.has(error)) return;
      told.add(error);
    }
    const time = timestamp(clock.now());
    const fault = { time, level, request_id: requestId, code: codeOf(error), stack: stackOf(error) };
    try {
      sink(fault);
    } catch (broken) {
      // A worker must not end because nobody could be told.
      reportToStderr(fault);
      reportToStderr({ ...fault, code: codeOf(broken), stack: stackOf(broken) });
    }
  };
}

/** Where faults go when nobody asked for them: nothing that went wrong stays unsaid. */
export function reportToStderr(fault: Fault): void {
  process.stderr.write(`${JSON.stringify(fault)}\n`);
}

const maxCauses = 5;

function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const known = typeof code === 'string' || typeof code === 'number' ? code : name;
  return typeof known === 'string' || typeof known === 'number'
    ? withoutSecrets(String(known))
    : typeof error;
}

function stackOf(error: unknown, causes = 0): string {
  if (!(error instanceof Error)) return `a value that is no error (${typeof error}) was thrown`;
  const head = withoutSecrets(`${error.name}: ${error.message}`);
  // A message of several lines may look like frames.
  const { message, stack = '' } = error;
  const frames = stack
    .slice(Math.max(0, stack.indexOf(message)) + message.length)
    .split('\n')
    .filter((line) => /^ +at /.test(line));
  const told = [head, ...frames].join('\n');
  if (error.cause === undefined || causes === maxCauses) return told;
  return `${told}\ncaused by ${stackOf(error.cause, causes + 1)}`;
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const property = "\\((?:reading|setting) '[\\w$]+'\\)";
const quoted = '"[^"]*"|\'[^\']*\'|`[^`]*`|“[^”]*”|«[^»]*»';
const secret = new RegExp(
  `(${uuid}|${property})|urtuu_\\w*|${quoted}|[^\\s@]+@[^\\s@]+|\\+?[0-9](?:[ -]?[0-9]){3,}`,
  'giu',
);

/** Ids and names of properties stay; what may be a key, a quoted text, an address, a number or a code does not. */
function withoutSecrets(text: string): string {
  return text.slice(0, 1_000).replace(secret, (_, kept?: string) => kept ?? '…');
}
