import { describe } from '../../describe.js';
import { usageError } from '../../errors.js';
import type { CommandBody } from '../../program.js';
import { type Envelope, readMessage } from '../../sendmail/message.js';
import { sysexitTranslation } from '../../sendmail/sysexits.js';

interface Options {
  t?: boolean;
}

export const sendmail: CommandBody = (command, context) => {
  command
    .description(
      'Read a message from standard input and send it, for cron and programs that call sendmail. Ends with the codes of sysexits.h: 75 where trying again later may help.',
    )
    .argument('[recipient...]', 'addresses, in place of those in the message')
    .option('-t', 'send to the addresses in To, Cc and Bcc')
    .option('-f <address>', 'ignored: emails come from the address of the service')
    .option('-F <name>', 'ignored: the name is that of the From header');
  describe(command, {
    examples: [
      ['urtuu sendmail -t < message.eml', 'send a message to the addresses in it'],
      ['urtuu sendmail -t -oi --profile work', 'as the sendmail command of another program'],
    ],
    exits: [],
    exitAs: sysexitTranslation,
  });
  command.action(async (recipients: string[], { t }: Options) => {
    if (recipients.length === 0 && !t) throw usageError('missing: a recipient, or -t');
    const message = await readMessage(await context.files.whole('-'), t ? [] : recipients);
    await deliver(message);
  });

  async function deliver({ params, idempotencyKey }: Envelope): Promise<void> {
    const { email } = await context.client();
    const options = idempotencyKey === null ? {} : { idempotencyKey };
    const [only = ''] = params.to;
    await (params.to.length === 1
      ? email.send({ ...params, to: only }, options)
      : email.sendBulk(params, options));
  }
};
