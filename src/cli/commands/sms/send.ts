import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { checkNumber, readRecipient } from '../../input/recipients.js';
import { fillPlaces, required } from '../../input/required.js';
import { gsmOption, readText, textSource } from '../../input/text.js';
import { sentExample } from '../../output/examples.js';
import { estimateSms, estimateView, sendView } from '../../single/dry-run.js';
import { finishSend } from '../../single/finish.js';
import { addSendOptions, type SingleSendOptions } from '../../single/options.js';
import { cleanText } from '../../text/clean.js';
import { smsText, whyCyrillic } from '../../text/gsm.js';

interface Options extends SingleSendOptions {
  to?: string;
  text?: string;
  textFile?: string;
  gsm?: boolean;
}

export const smsSend: CommandBody = (command, context) => {
  command
    .description('Send one SMS. Returns when the operator has accepted it.')
    .argument('[to]', 'recipient number: 8 digits; +976, spaces and dashes are accepted')
    .argument(
      '[text]',
      'text, at most 5 parts (750 Latin or 300 Cyrillic characters); - reads standard input',
    )
    .option('--to <number>', 'recipient, in place of the argument')
    .option('--text <text>', 'text, in place of the argument; - reads standard input')
    .option('--text-file <file>', 'read the text from a file')
    .option(...gsmOption);
  addSendOptions(command);
  addHelp(command, {
    view: sendView,
    effects: ['sends', 'spends'],
    examples: [
      ["urtuu sms send 99112233 'Таны захиалга хүргэгдлээ.'", 'send a text'],
      ['uptime | urtuu sms send 99112233 - --json', 'send the output of a command, print JSON'],
    ],
    refused: 'refused: the idempotency key was used for another message',
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
    json: [
      ['', sentExample],
      [
        'with --dry-run',
        '{"to": "99112233", "channel": "sms", "kind": "cyrillic", "size": 27, "parts": 1, "credits": 10}',
      ],
    ],
  });
  command.action(async (first: string | undefined, second: string | undefined, options: Options) => {
    const [to, text] = fillPlaces([first, second], { '--to': options.to, '--text': options.text });
    const source = { ...textSource({ ...options, text }), name: '[text]' };
    const written = await required(context.io, {
      to: { value: to, name: '<to>', question: 'Recipient number:', check: checkNumber },
      text: { value: await readText(context.io.files, source), name: '<text>', question: 'Text:' },
    });
    const earlier = { ...written, to: readRecipient('number', written.to) };
    const note = (line: string) => context.io.note(line);
    const message = { ...earlier, text: smsText(cleanText(written.text), options.gsm, note) };
    if (options.dryRun) {
      const why = whyCyrillic(message.text);
      if (why !== null) note(`Not GSM: ${why}`);
      return context.io.print(estimateView, await estimateSms(context, message));
    }
    const { sms } = await context.network.client();
    const { sendSingle } = await import('../../single/send.js');
    const outcome = await sendSingle(
      context,
      'sms',
      { message, earlier: options.gsm ? message : earlier },
      options,
      (...args) => sms.send(...args),
    );
    await finishSend(context, outcome, options);
  });
};
