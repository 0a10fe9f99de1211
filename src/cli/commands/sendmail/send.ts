import { normalizeAddress } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { usageError } from '../../errors.js';
import { type Envelope, readMessage } from '../../sendmail/message.js';
import { sysexitTranslation } from '../../sendmail/sysexits.js';
import { failed } from '../../single/finish.js';
import { aboutAnother, aboutOthers, isAbout } from '../../single/send.js';

/** What an email of 1 MB takes when quoted-printable writes each of its bytes as three, and its headers. */
const mostBytes = 4_000_000;

interface Options {
  t?: boolean;
}

export const sendmail: CommandBody = (command, context) => {
  command
    .description(
      'Read a message from standard input and send it as an email, for cron and programs that call sendmail.',
    )
    .argument('[recipient...]', 'addresses, in place of those in the message')
    .option('-t', 'send to the addresses in To, Cc and Bcc')
    .option('-f <address>', 'ignored: emails come from the address of the service')
    .option('-F <name>', 'ignored: the name is that of the From header');
  describe(command, {
    notes: [
      'The subject, the sender name and where replies go are those of the headers;',
      'text and HTML may be encoded as MIME allows. Attachments are refused. A message',
      'with a Message-ID is sent once, however often it is handed over.',
      '',
      'Cron mails what its jobs print. Let it call urtuu, and say to whom:',
      '  crond -m "urtuu sendmail -t"       # cronie',
      '  MAILTO=ops@example.mn              # in the crontab',
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
  command.action(async (recipients: string[], { t }: Options) => {
    if (recipients.length === 0 && !t)
      throw usageError(
        'missing: a recipient, or -t',
        'urtuu sendmail -t sends to the addresses in the message.',
      );
    const raw = await context.io.files.whole(
      '-',
      mostBytes,
      'An email has at most 1 MB, without attachments.',
    );
    const message = await readMessage(raw, t ? [] : recipients);
    await deliver(message);
  });

  async function deliver({ params, idempotencyKey }: Envelope): Promise<void> {
    const { email } = await context.network.client();
    const options = idempotencyKey === null ? {} : { idempotencyKey };
    const [only = ''] = params.to;
    if (params.to.length === 1) {
      const sent = await email.send({ ...params, to: only }, options);
      const single = { channel: 'email', to: only } as const;
      if (!isAbout(sent, single)) throw aboutAnother(context, single);
      if (sent.status === 'failed') throw failed(sent);
      return;
    }
    const { total } = await email.sendBulk(params, options);
    const recipients = new Set(params.to.map(normalizeAddress)).size;
    if (total < recipients) throw aboutOthers(context, total, recipients);
  }
};
