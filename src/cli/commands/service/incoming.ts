import type { Fault } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import type { Network } from '../../network/network.js';
import { incomingSysexits } from '../../sendmail/sysexits.js';
import { addStoreOptions, ownedStore, type StoreOptions } from './store.js';

/** The size of mail that large providers accept, in base64. */
const maxBytes = 36_000_000;

interface Options extends StoreOptions {
  to?: string;
}

export const serviceIncoming: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Receive one mail on standard input: a bounce or a reply, from a mail server.')
    .option('--to <address>', 'recipient of the envelope (default: those in the headers)');
  addStoreOptions(command);
  addHelp(command, {
    effects: ['changes'],
    notes: [
      'A failure report sets the delivery of its message to bounced. Mail to the own',
      'domain of a project goes to its inbox. The same mail is received once.',
    ],
    examples: [
      ['urtuu service incoming --to "$RECIPIENT" < mail.eml', 'from the pipe of a mail server'],
      ['urtuu service incoming --data /srv/urtuu < bounce.eml', 'with another data folder'],
    ],
    exits: [],
    exitAs: incomingSysexits,
  });
  command.action(async ({ to, ...options }: Options) => {
    const mail = await context.io.files.whole('-', maxBytes, 'Larger mails are refused.');
    const { administration } = await ownedStore(withoutStacks(context), options).catch((error) =>
      Promise.reject(notNow(error)),
    );
    await administration.receiveMail(mail, to === undefined ? [] : [to]);
  });
};

/** A mail server may return a pipe's output to the sender of the mail. */
function withoutStacks({ io, network, config }: Pick<Context, 'io' | 'network' | 'config'>) {
  const report = ({ stack }: Fault) => io.warn(stack.split('\n', 1)[0] ?? '');
  const administration: Network['administration'] = (data) => network.administration(data, report);
  return { config, network: { ...network, administration } };
}

/** The mail is not at fault, so its server must try again. */
function notNow(error: Error & { hint?: string }): CliError {
  const { message, hint } = error;
  return new CliError('unavailable', exits.later, message, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}
