import { type Command, CommanderError } from 'commander';
import { createContext, type Streams } from './create-context.js';
import { Ended, inputError } from './errors.js';
import type { Exit } from './exit.js';
import { exits } from './exit-codes.js';
import { commandHelpOf, sendsOrSpends, viewOf } from './help/command-help.js';
import { commandsOf } from './help/command-tree.js';
import { Interruption } from './interruption.js';
import { globalOptions } from './options.js';
import type { ProcessEnvironment } from './process-environment.js';
import { buildProgram } from './program.js';
import { sendmailWords } from './sendmail/arguments.js';

/** After a signal, nothing may read standard output any more. */
const flushWithin = 2_000;

/** Runs one command line. Every error ends up here, where it is printed and mapped to an exit code. */
export async function runApplication(
  argv: readonly string[],
  environment: ProcessEnvironment,
  streams: Streams,
): Promise<Exit> {
  let called: Command | null = null;
  const context = createContext(environment, streams, () => globalOptions(called ?? program));
  let help = '';
  const output = {
    write(text: string) {
      help += text;
      void streams.stdout.page(text);
    },
    width: streams.stdout.isTerminal ? Math.min(streams.stdout.columns, 100) : 80,
  };
  const onCommand = (command: Command) => {
    called = command;
  };
  const program = buildProgram(context, output, { first: argv[0], onCommand });
  const interruption = new Interruption(environment, context, (key) =>
    commandHelpOf(called ?? program)?.exitAs?.hint(exits.doubt, key),
  );
  program.hook('preAction', async (_, command) => {
    // Before an action, a signal can interrupt nothing that matters.
    interruption.watch();
    await context.notices.prepare();
    const help = commandHelpOf(command);
    const sends = help !== undefined && sendsOrSpends(help);
    if (sends) checkEncoding(argv);
    if (!help?.findsColumns) await context.io.printer.checkColumns(viewOf(command), sends);
  });
  const work = program
    .parseAsync(normalized(argv, program), { from: 'user' })
    .catch((error: unknown) => {
      // Help was asked for.
      if (!(error instanceof CommanderError && error.exitCode === 0)) throw error;
      environment.onHelp?.(help);
    })
    .then(async (): Promise<Exit> => {
      await streams.stdout.flushed();
      // What is reported then is that the output could not be written.
      if (streams.stdout.hasFailed) throw new Ended(exits.ok);
      return exits.ok;
    })
    // An interrupted command may fail because of the signal; nobody needs to read that.
    .catch(async (error: unknown): Promise<Exit> => {
      if (interruption.ending !== undefined) return interruption.ending;
      const { reportError } = await import('./report-error.js');
      return reportError(error, argv, called ?? program, context);
    })
    .finally(() => context.notices.stop());
  const exit = await Promise.race([work, interruption.ended]);
  context.notices.stop();
  context.notices.flush();
  if (typeof exit !== 'string') await Promise.race([context.network.close(), interruption.ended]);
  interruption.ignore();
  const flushed = Promise.all([streams.stdout.flushed(), streams.stderr.flushed()]);
  await (interruption.received === undefined
    ? flushed
    : Promise.race([flushed, environment.clock.sleep(flushWithin)]));
  return interruption.received ?? exit;
}

/** Node.js has put U+FFFD in place of bytes that are not UTF-8. */
function checkEncoding(argv: readonly string[]): void {
  const at = argv.findIndex((argument) => argument.includes('\ufffd'));
  if (at === -1) return;
  const message = `argument ${at + 1} of the command line is not UTF-8, or contains U+FFFD, a lost character`;
  throw inputError(message, 'Nothing was sent. Write it in UTF-8.');
}

const topicsNamedAsCommands = new Set(['sandbox', 'jobs']);

/** `urtuu` alone is `urtuu --help`, and `urtuu help sms send` is `urtuu sms send --help`. */
function normalized(argv: readonly string[], program: Command): string[] {
  if (argv.length === 0) return ['--help'];
  const [first, ...rest] = argv;
  const name = nameIn(argv, program);
  // Its callers write options for sendmail; some look like ours.
  if (argv[name] === 'sendmail') return [...argv.slice(0, name + 1), ...sendmailWords(argv.slice(name + 1))];
  const isTopic = rest.length === 1 && topicsNamedAsCommands.has(rest[0] ?? '');
  return first === 'help' && rest.length > 0 && !isTopic && isCommand(rest, program)
    ? [...rest, '--help']
    : [...argv];
}

/** Index of the command's name, after the global options and their values. */
function nameIn(argv: readonly string[], program: Command): number {
  let at = 0;
  for (; argv[at]?.startsWith('-'); at += 1)
    if (program.options.find(({ long, short }) => argv[at] === long || argv[at] === short)?.required) at += 1;
  return at;
}

function isCommand(words: readonly string[], program: Command): boolean {
  let command: Command | undefined = program;
  for (const word of words) command = command && commandsOf(command).find((each) => each.name() === word);
  return command !== undefined;
}
