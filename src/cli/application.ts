import { type Command, CommanderError } from 'commander';
import { exitTranslationOf, findsColumns, sends, viewOf } from './command-help.js';
import { createContext, type OwnedContext, type Streams } from './create-context.js';
import { Ended, Interrupted, usageError } from './errors.js';
import type { Exit } from './exit.js';
import { exits } from './exit-codes.js';
import { isAccepted } from './network/exchange.js';
import { globalOptions } from './options.js';
import { masked } from './output/mask.js';
import type { EndSignal } from './platform/signals.js';
import type { ProcessEnvironment } from './process-environment.js';
import { buildProgram } from './program.js';

/** After a SIGTERM or a SIGHUP the process has to be gone within this time. */
const terminateWithin = 5_000;
/** After a signal nobody may read any more what is still to be written. */
const writtenWithin = 2_000;

/** Runs one command line. Errors end here: told once, and mapped to an exit code once. */
export async function runApplication(
  argv: readonly string[],
  environment: ProcessEnvironment,
  streams: Streams,
): Promise<Exit> {
  let chosen: Command | null = null;
  const context = createContext(environment, streams, () => globalOptions(chosen ?? program));
  const output = {
    write: (text: string) => void streams.stdout.write(text),
    width: streams.stdout.isTerminal ? Math.min(streams.stdout.columns, 100) : 80,
  };
  const program = buildProgram(context, output, (command) => {
    chosen = command;
  });
  const signals = signalsOf(environment, context);
  program.hook('preAction', async (_, command) => {
    // Before it, as in a help text, there is nothing that a signal could leave undone.
    signals.watch();
    await context.notices.dress();
    if (!findsColumns(command)) await context.io.printer.checkColumns(viewOf(command), sends(command));
  });
  const work = program
    .parseAsync(asCalled(argv, program), { from: 'user' })
    .then((): Exit => exits.ok)
    // What fails because the run was stopped is no news.
    .catch((error: unknown) => signals.over() ?? exitOf(error, argv, chosen ?? program, context))
    .finally(() => context.notices.stop());
  const exit = await Promise.race([work, signals.ended]);
  context.notices.stop();
  context.notices.flush();
  if (typeof exit !== 'string') await context.network.close();
  signals.ignore();
  const settled = Promise.all([streams.stdout.settled(), streams.stderr.settled()]);
  await (signals.received() === undefined
    ? settled
    : Promise.race([settled, environment.clock.sleep(writtenWithin)]));
  return signals.received() ?? exit;
}

const topicsNamedAsCommands = new Set(['sandbox', 'jobs']);

/** `urtuu` alone is `urtuu --help`, and `urtuu help sms send` is `urtuu sms send --help`. */
function asCalled(argv: readonly string[], program: Command): string[] {
  if (argv.length === 0) return ['--help'];
  const [first, ...rest] = argv;
  // Flags that callers of sendmail give by habit, and that our own options would be mistaken for.
  if (first === 'sendmail') return argv.filter((word) => !/^-(?:o[a-z]+|i|bm|B\S*)$/.test(word));
  const isTopic = rest.length === 1 && topicsNamedAsCommands.has(rest[0] ?? '');
  return first === 'help' && rest.length > 0 && !isTopic && isCommand(rest, program)
    ? [...rest, '--help']
    : [...argv];
}

function isCommand(words: readonly string[], program: Command): boolean {
  let command: Command | undefined = program;
  for (const word of words) command = command?.commands.find((each) => each.name() === word);
  return command !== undefined;
}

function signalsOf(environment: ProcessEnvironment, context: OwnedContext) {
  let received: EndSignal | undefined;
  let over: EndSignal | undefined;
  let end: (signal: EndSignal) => void = () => {};
  const ended = new Promise<EndSignal>((resolve) => {
    end = resolve;
  });
  const onSignal = (signal: EndSignal): void => {
    // A terminal that is closed hangs up more than once.
    const again = received !== undefined && signal !== 'SIGHUP';
    received ??= signal;
    if (!context.held || again) {
      giveUp(context);
      over = received;
      end(received);
    } else if (signal !== 'SIGINT') {
      void environment.clock.sleep(terminateWithin).then(() => {
        if (!finished) giveUp(context);
        end(signal);
      });
    }
    context.abort(signal);
  };
  let finished = false;
  let ignore = () => {};
  return {
    ended,
    watch() {
      ignore = environment.onSignal(onSignal);
    },
    ignore() {
      finished = true;
      ignore();
    },
    received: () => received,
    over: () => over,
  };
}

/** What ends now may leave something undone: a job says what, else a send that may be on its way is told of. */
function giveUp(context: OwnedContext): void {
  context.notices.stop();
  if (context.sayLastWords()) return;
  const pending = context.network.pendingSend;
  if (pending === null) return;
  const { idempotencyKey: key } = pending;
  const what = key === null ? 'request' : 'message';
  const when = isAccepted(pending)
    ? `before the answer about a ${what} was shown`
    : `while a ${what} was on its way`;
  context.io.warn(
    key === null
      ? `stopped ${when}; it may have arrived.`
      : `stopped ${when}; repeat it with --idempotency-key ${key}: that cannot send it twice.`,
  );
}

async function exitOf(
  thrown: unknown,
  argv: readonly string[],
  command: Command,
  context: OwnedContext,
): Promise<Exit> {
  if (thrown instanceof Ended && (thrown.exit === exits.ok || !asksForMachineFormat(argv, context))) {
    return thrown.exit;
  }
  if (thrown instanceof Interrupted) return 'SIGINT';
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return exits.ok;
  const error = thrown instanceof CommanderError ? usageOf(thrown, command) : thrown;
  const { failureOf, failureOfEnd } = await import('./failure.js');
  const { repeatOf } = await import('./single/repeat.js');
  const failure =
    error instanceof Ended
      ? failureOfEnd(error.exit, context.notices.conclusion)
      : await failureOf(error, context);
  const translation = exitTranslationOf(command);
  const hint = translation?.hint(failure.exit, failure.idempotency_key);
  if (hint !== undefined) failure.hint = hint;
  if (!(error instanceof Ended)) failure.hint ??= `See: ${nameOf(command)} --help`;
  if (context.io.printer.mask && isTexts(failure.invalid)) failure.invalid = failure.invalid.map(masked);
  if (context.network.sentToSandbox) failure.sandbox = true;
  context.notices.stop();
  if (asksForMachineFormat(argv, context)) {
    context.notices.failure(failure);
  } else {
    await context.notices.dress();
    const repeat = translation === undefined ? repeatOf(context, argv, failure) : null;
    if (repeat === null) context.notices.error(said(failure), failure.hint);
    else context.notices.error(said(failure), failure.hint?.replace(/\.$/, ':'), repeat);
  }
  if (context.options.verbose && error instanceof Error && failure.exit === exits.fault) {
    for (const line of (error.stack ?? '').split('\n')) context.notices.write(line);
  }
  return translation?.of(failure.exit, failure.idempotency_key) ?? failure.exit;
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const said = ({ code, message, status }: { code: string; message: string; status: number | null }) =>
  status === null ? message : `${message} (${code})`;

/** What commander found wrong, in the words of our own errors. */
function usageOf(error: CommanderError, command: Command) {
  const called = nameOf(command);
  if (error.code === 'commander.help') {
    const names = command.commands.map((each) => each.name()).join(', ');
    return usageError(command.parent === null ? 'which command?' : `which command? ${called} has: ${names}`);
  }
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const what = rewordings.reduce((text, [from, to]) => text.replace(from, to), message);
  return usageError(
    what.replace('COMMAND', called),
    suggestion === undefined ? undefined : `${suggestion.slice(1, -1)} See: ${called} --help`,
  );
}

const rewordings: readonly (readonly [from: RegExp, to: string])[] = [
  [/^option '(?:-\w, )?(--?[\w-]+).*' argument '.*' is invalid\. /s, '$1: '],
  [/^command-argument value '.*' is invalid for argument '(\w+)'\. /s, '<$1>: '],
  [/^option '(?:-\w, )?(--?[\w-]+) (.*)' argument missing$/, '$1 needs a value: $2'],
  [/^missing required argument '(\w+)'$/, 'missing: <$1>'],
  // What is wrongly given as an option may be a secret.
  [/^(unknown option '[^=]*)=.*'$/s, "$1'"],
  [/^too many arguments.* Expected 0 .*$/s, 'COMMAND takes no arguments'],
  [
    /^too many arguments.* Expected (\d+) arguments? but got (\d+)\.$/s,
    'COMMAND takes at most $1, and there are $2 arguments; quote a text that has spaces',
  ],
];

function nameOf(command: Command): string {
  const path: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) path.unshift(each.name());
  return path.join(' ');
}

/** The options may not have been read to their end when an error is found among them. */
function asksForMachineFormat(argv: readonly string[], context: OwnedContext): boolean {
  if (context.io.printer.isMachine) return true;
  return argv.some((word, index) => {
    if (word === '--') return false;
    if (word === '--json') return true;
    const value =
      /^(?:-o|--output=)(.+)$/.exec(word)?.[1] ?? (/^(?:-o|--output)$/.test(word) ? argv[index + 1] : '');
    return /^(?:json|ndjson|csv|tsv)$/.test(value ?? '');
  });
}
