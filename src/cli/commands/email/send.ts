import type { EmailSendParams } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { fillPlaces } from '../../input/required.js';
import { emailExample, emailWaitExample } from '../../output/examples.js';
import { estimateEmail, estimateView, sendView } from '../../single/dry-run.js';
import { addContentOptions, type ContentOptions, emailOf } from '../../single/email.js';
import { finishSend } from '../../single/finish.js';
import { addSendOptions, type SingleSendOptions } from '../../single/options.js';
import { cleanField } from '../../text/clean.js';

interface Options extends ContentOptions, SingleSendOptions {
  to?: string;
}

export const emailSend: CommandBody = (command, context) => {
  command
    .description('Send one email. Returns when it is queued; --wait waits until it is sent.')
    .argument('[to]', 'recipient address')
    .option('--to <address>', 'recipient, in place of the argument');
  addContentOptions(command);
  addSendOptions(command);
  addHelp(command, {
    view: sendView,
    effects: ['sends', 'spends'],
    examples: [
      ["urtuu email send bat@example.mn --subject 'Сайн уу' --text 'Маргааш ирнэ.'", 'send plain text'],
      [
        'urtuu email send bat@example.mn --subject Report --html-file report.html --wait',
        'wait for the outcome',
      ],
    ],
    refused: 'refused: the idempotency key was used for another message',
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
    json: [
      ['', emailExample],
      ['with --wait', emailWaitExample],
      [
        'with --dry-run',
        '{"to": "bat@example.mn", "channel": "email", "kind": null, "size": 1834, "parts": null, "credits": 2}',
      ],
    ],
  });
  command.action(async (given: string | undefined, options: Options) => {
    const [to] = fillPlaces([given], { '--to': options.to });
    const earlier = await emailOf(context.io, to, options);
    const fields = Object.entries(earlier).map(([name, text]) => [name, cleanField(name, text)]);
    const message: EmailSendParams = Object.fromEntries(fields);
    if (options.dryRun) return context.io.print(estimateView, await estimateEmail(context, message));
    const { email } = await context.network.client();
    const { sendSingle } = await import('../../single/send.js');
    const outcome = await sendSingle(context, 'email', { message, earlier }, options, (...args) =>
      email.send(...args),
    );
    await finishSend(context, outcome, options);
  });
};
