import { comparedRecipient, normalizeAddress } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { appendFailedSend, appendHistory } from '../../history/append.js';
import { readAddress } from '../../input/recipients.js';
import { type Envelope, readMessage } from '../../sendmail/message.js';
import { sysexitTranslation } from '../../sendmail/sysexits.js';
import { answersAnother, answersFewer, isAbout } from '../../single/answer.js';
import { sendFailed, stateNow } from '../../single/finish.js';
import { namingSuppressed } from '../../single/suppressed.js';
import { checkFailed } from './failed-at-once.js';

/** The same message under its Message-ID is a repeat, which cannot send it. */
const newMessageId = 'To send it again, remove its Message-ID, or give it a new one.';

/** A 1 MB email with every byte encoded as three by quoted-printable, and its headers. */
const maxBytes = 4_000_000;

interface Options {
  t?: boolean;
  F?: string;
  localTo?: string;
}

type Needs = 'options' | 'io' | 'network' | 'config' | 'clock';

export const sendmail: CommandBody<Needs> = (command, context) => {
  command
    .description('Read a message from standard input and send it by email, for cron and sendmail callers.')
    .argument('[recipient...]', 'addresses; with -t in addition to those in the message')
    .option('-t', 'send to the addresses in To, Cc and Bcc')
    .option('-F <name>', 'sender name of a message without a From header')
    .option('--local-to <address>', 'address for names without a domain, such as root', readAddress)
    // A sendmail caller's `-h 3` counts hops: taken as help, it would exit with 0, and the mail would be lost.
    .helpOption('--help', 'show help');
  addHelp(command, {
    effects: ['sends', 'spends'],
    notes: [
      'The headers have the subject, the sender name and the reply address; text and',
      'HTML may be encoded as MIME allows. Attachments are refused. A message with a',
      'Message-ID is sent once to the same recipients, however often it comes in.',
      '',
      "Postfix's options -B, -f, -h, -i, -L, -N, -O, -o, -R, -r, -V and -X are accepted",
      'and ignored: the service sets the sender address and mails no delivery reports.',
      '',
      'Cron mails the output of its jobs. Make it call urtuu, and set the recipient:',
      '  crond -m "urtuu sendmail -t"       # cronie',
      'In the crontab, several addresses with commas:',
      '  MAILTO=ops@example.mn',
      'Without MAILTO cron writes to the user name, which needs --local-to, or:',
      '  urtuu login --profile cron --local-to ops@example.mn',
      'Other crons call /usr/sbin/sendmail, which can be this script:',
      '  #!/bin/sh',
      '  exec urtuu sendmail --profile cron "$@"',
    ],
    examples: [
      ['urtuu sendmail -t < message.eml', 'send a message to the addresses in it'],
      ['urtuu sendmail -t -oi --profile work', 'as the sendmail command of another program'],
    ],
    exits: [],
    exitAs: sysexitTranslation,
  });
  command.action(async (recipients: string[], { t, F, localTo }: Options) => {
    if (recipients.length === 0 && !t) {
      throw usageError('missing: a recipient, or -t', 'Use -t to send to the addresses in the message.');
    }
    const hint = 'An email has at most 1 MB, without attachments.';
    const raw = await context.io.files.whole('-', maxBytes, hint);
    const address = async () => localTo ?? (await context.config.settings()).localTo;
    const addressed = { recipients, inHeaders: t === true, localTo: address };
    const envelope = await readMessage(raw, addressed, F);
    for (const repair of envelope.repairs) context.io.warn(repair);
    for (const unused of envelope.unusedReplyTo) {
      context.io.warn(
        `replies will not go to ${context.io.printer.recipient(unused)}: the service takes one address`,
      );
    }
    await deliver(context, envelope);
  });
};

async function deliver(context: Pick<Context, Needs>, { params, idempotencyKey }: Envelope): Promise<void> {
  const { email, batches } = await context.network.client();
  const options = idempotencyKey === null ? {} : { idempotencyKey };
  const [only = ''] = params.to;
  const entry = { command: 'sendmail', channel: 'email', key: idempotencyKey } as const;
  const remember = (to: string | null) => async (error: unknown) => {
    await appendFailedSend(context, error, { ...entry, to });
    throw to === null ? error : await namingSuppressed(context, error, to);
  };
  const anew = idempotencyKey === null ? 'Submit it again to send it anew.' : newMessageId;
  if (params.to.length === 1) {
    const sending = () => email.send({ ...params, to: only }, options);
    const { result, replayed, attempts } = await context.network.send(sending).catch(remember(only));
    const single = { channel: 'email', to: only } as const;
    if (!isAbout(result, single)) throw answersAnother(context, single);
    const sent = replayed || attempts > 1 ? await stateNow(context, result) : result;
    const { id, status, error = null } = sent;
    await appendHistory(context, { ...entry, to: only, id, status, credits: result.credits });
    if (status === 'failed') throw sendFailed({ id, error }, anew);
    return;
  }
  const { id, status, total, credits } = await email.sendBulk(params, options).catch(remember(null));
  await appendHistory(context, { ...entry, id, status, credits });
  const recipients = new Set(params.to.map((to) => comparedRecipient(normalizeAddress(to) ?? to))).size;
  if (total < recipients) throw answersFewer(context, total, recipients);
  await checkFailed(context, batches, { id, total, anew });
}
