import type { Clock } from './clock.js';
import { timestamp } from './timestamp.js';

/** An unexpected error for the log, without keys, texts, codes and whole numbers. */
export interface Fault {
  /** ISO 8601, UTC. */
  time: string;
  /** `warning`: the service retries by itself. */
  level: 'error' | 'warning';
  /** The failed request; null in the background. */
  request_id: string | null;
  /** The error's `code`, or else its name. */
  code: string;
  /** Message and stack of the error and its causes. */
  stack: string;
}

/** Reports an error only once, even if it failed many messages or requests. */
export type Report = (error: unknown, about?: { level?: Fault['level']; requestId?: string }) => void;

export function createReport(clock: Clock, sink: (fault: Fault) => void): Report {
  const reported = new WeakSet<object>();
  return (error, { level = 'error', requestId = null } = {}) => {
    if (error instanceof Error) {
      if (reported.has(error)) return;
      reported.add(error);
    }
    const time = timestamp(clock.now());
    const fault = { time, level, request_id: requestId, code: codeOf(error), stack: stackOf(error) };
    try {
      sink(fault);
    } catch (broken) {
      // A failing sink must not end a worker.
      reportToStderr(fault);
      reportToStderr({ ...fault, code: codeOf(broken), stack: stackOf(broken) });
    }
  };
}

/** The default sink. */
export function reportToStderr(fault: Fault): void {
  process.stderr.write(`${JSON.stringify(fault)}\n`);
}

const maxCauses = 5;
/** Of PostgreSQL, such as 57014: not a phone number. */
const sqlState = /^[0-9A-Z]{5}$/;

function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && sqlState.test(code)) return code;
  const known = typeof code === 'string' || typeof code === 'number' ? code : name;
  return typeof known === 'string' || typeof known === 'number'
    ? withoutSecrets(String(known))
    : typeof error;
}

function stackOf(error: unknown, causes = 0): string {
  if (!(error instanceof Error)) return `thrown: a value of type ${typeof error}, not an Error`;
  const head = withoutSecrets(`${error.name}: ${error.message}`);
  // A message of several lines may look like stack frames.
  const { message, stack = '' } = error;
  const frames = stack
    .slice(Math.max(0, stack.indexOf(message)) + message.length)
    .split('\n')
    .filter((line) => /^ +at /.test(line));
  const own = [head, ...frames].join('\n');
  if (error.cause === undefined || causes === maxCauses) return own;
  return `${own}\ncaused by ${stackOf(error.cause, causes + 1)}`;
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const property = "\\((?:reading|setting) '[\\w$]+'\\)";
/** Of SMTP, with the enhanced status. */
const reply = '[245][0-9]{2} [245](?:\\.[0-9]{1,3}){2}(?![0-9])';
/** No phone number or code is written so. */
const backend = 'PostgreSQL process [0-9]{1,7}(?![ -]?[0-9])';
const quoted = '"[^"]*"|\'[^\']*\'|`[^`]*`|“[^”]*”|«[^»]*»';
const secret = new RegExp(
  `(${uuid}|${property}|\\b${reply}|${backend})|urtuu_\\w*|${quoted}|[^\\s@]+@[^\\s@]+|\\+?[0-9](?:[ -]?[0-9]){3,}`,
  'giu',
);

/** Keeps ids, names of properties, replies of mail relays and processes of a database; removes possible keys, quoted texts, addresses, numbers and codes. */
function withoutSecrets(text: string): string {
  return text.slice(0, 1_000).replace(secret, (_, kept?: string) => kept ?? '…');
}
