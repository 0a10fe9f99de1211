import { type Command, CommanderError } from 'commander';
import type { OwnedContext } from './create-context.js';
import { Ended, Interrupted } from './errors.js';
import type { Exit } from './exit.js';
import { type ExitCode, exits } from './exit-codes.js';
import { commandHelpOf } from './help/command-help.js';
import { nameOf } from './help/command-tree.js';
import { isMachineFormat } from './output/formats.js';
import { masked, maskedText } from './output/mask.js';
import { printedError, printedExit } from './printed-error.js';
import { repeatCommand } from './single/repeat.js';
import { unwritten } from './single/shown.js';
import { usageErrorOf } from './usage-error.js';

/** Prints the error that ended a command, for a person or a program, and returns its exit. */
export async function reportError(
  given: unknown,
  argv: readonly string[],
  command: Command,
  context: OwnedContext,
): Promise<Exit> {
  if (given instanceof Interrupted) return 'SIGINT';
  const { notices, io, network } = context;
  const lost = unwritten(io.printer);
  const thrown = lost !== null && given instanceof Ended && given.exit === exits.ok ? lost : given;
  if (lost !== null && (thrown as Error).cause !== lost.cause) notices.warn(lost.message);
  // Some results succeeded, and nobody has seen which.
  const exitOf = (exit: ExitCode) => (lost !== null && exit === exits.partly ? exits.machine : exit);
  const isMachine = asksForMachineFormat(argv, context);
  if (thrown instanceof Ended && (thrown.exit === exits.ok || !isMachine)) return exitOf(thrown.exit);
  const error = thrown instanceof CommanderError ? usageErrorOf(thrown, command) : thrown;
  const printed =
    error instanceof Ended ? printedExit(error.exit, notices.conclusion) : await printedError(error, context);
  printed.exit = exitOf(printed.exit);
  const exitAs = commandHelpOf(command)?.exitAs;
  const hint = exitAs?.hint(printed.exit, printed.idempotency_key);
  if (hint !== undefined) printed.hint = context.config.withCommands(hint);
  if (!(error instanceof Ended))
    printed.hint ??= context.config.withCommands(`See: \`${nameOf(command)} --help\``);
  // It quotes the command line, or the list of recipients.
  if (io.printer.mask && (printed.exit === exits.usage || isTexts(printed.invalid)))
    printed.message = maskedText(printed.message);
  if (io.printer.mask && isTexts(printed.invalid)) printed.invalid = printed.invalid.map(masked);
  if (network.sentToSandbox) printed.sandbox = true;
  notices.stop();
  if (isMachine) {
    notices.failure(printed);
  } else {
    await notices.prepare();
    const repeat = exitAs === undefined ? repeatCommand(context, argv, printed) : null;
    if (repeat === null) notices.error(messageOf(printed), printed.hint);
    else notices.error(messageOf(printed), printed.hint?.replace(/\.$/, ':'), repeat);
  }
  if (context.options.verbose && error instanceof Error && printed.exit === exits.internal) {
    for (const line of (error.stack ?? '').split('\n')) notices.write(line);
  }
  return exitAs?.of(printed.exit, printed.idempotency_key) ?? printed.exit;
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const messageOf = ({ code, message, status }: { code: string; message: string; status: number | null }) =>
  status === null ? message : `${message} (${code})`;

/** Also looks at the words: after an invalid option, the later ones are not parsed. */
function asksForMachineFormat(argv: readonly string[], { io }: OwnedContext): boolean {
  if (io.printer.isMachine) return true;
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  return words.some((word, index) => {
    if (word === '--json') return true;
    const value =
      /^(?:-o|--output=)(.+)$/.exec(word)?.[1] ?? (/^(?:-o|--output)$/.test(word) ? words[index + 1] : '');
    return isMachineFormat(value ?? '');
  });
}
