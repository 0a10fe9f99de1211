import type { Channel, VerifyCreateParams } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { appendFailedSend, appendHistory } from '../../history/append.js';
import { rememberId } from '../../history/recent-ids.js';
import { readDuration } from '../../input/duration.js';
import { checkRecipient, readRecipient } from '../../input/recipients.js';
import { fillPlaces, required } from '../../input/required.js';
import { readText, textSource } from '../../input/text.js';
import { readChoice, readCount } from '../../options.js';
import { createdExample } from '../../output/examples.js';
import { createdView } from '../../output/views.js';
import { codeSentAs, ensureShown } from '../../single/shown.js';
import { namingSuppressed } from '../../single/suppressed.js';
import { cleanText } from '../../text/clean.js';

interface Options {
  to?: string;
  channel?: Channel;
  codeLength?: number;
  expiresIn?: number;
  text?: string;
  textFile?: string;
}

export const verifyCreate: CommandBody<'options' | 'io' | 'network' | 'config' | 'clock'> = (
  command,
  context,
) => {
  const { io, network, config } = context;
  command
    .description('Send a verification code by SMS or email.')
    .argument('[to]', 'recipient number or address')
    .option('--to <recipient>', 'recipient, in place of the argument')
    .option('--channel <channel>', 'sms or email (default: from the recipient)', readChoice('sms', 'email'))
    .option('--code-length <digits>', 'length of the code, 4 to 8 (default 6)', readCount)
    .option('--expires-in <duration>', 'lifetime of the code, 60s to 1h (default 10m)', readDuration)
    .option('--text <text>', 'text with {code}, and optionally {brand}; - reads standard input')
    .option('--text-file <file>', 'read the text from a file');
  addHelp(command, {
    view: createdView,
    effects: ['sends', 'spends'],
    examples: [
      ['urtuu verify create 99112233', 'send a code'],
      [
        "urtuu verify create 99112233 --text 'Код: {code}' --json | jq -r .id",
        'keep the id for verify check',
      ],
    ],
    ok: 'the code was sent',
    exits: [4, 5, 6, 7, 8, 9, 12],
    json: createdExample,
  });
  command.action(async (given: string | undefined, options: Options) => {
    const template = await readText(io.files, textSource(options));
    const text = template === undefined ? template : cleanText(template);
    const [recipient] = fillPlaces([given], { '--to': options.to });
    const written = await required(io, {
      to: { value: recipient, name: '<to>', question: 'Recipient number or address:', check: checkRecipient },
    });
    const to = readRecipient('any', written.to);
    const { verify } = await network.client();
    const params = paramsOf(to, text, options);
    const entry = { command: 'verify create', to } as const;
    const verification = await io
      .withProgress('Sending', () => verify.create(params))
      .catch(async (error) => {
        await appendFailedSend(context, error, { ...entry, channel: options.channel ?? null });
        throw await namingSuppressed(context, error, to);
      });
    const { id, channel, status, credits } = verification;
    await appendHistory(context, { ...entry, channel, id, status, credits });
    await rememberId(config, id);
    await io.print(createdView, verification);
    ensureShown(io.printer, codeSentAs(id));
    if (config.sandbox) io.note('The code is in:', config.commandLine(['sandbox', 'outbox'], {}));
    io.note('To check it:', config.commandLine(['verify', 'check', id], {}));
  });
};

function paramsOf(to: string, text: string | undefined, options: Options): VerifyCreateParams {
  const { channel, codeLength, expiresIn } = options;
  return {
    to,
    ...(channel === undefined ? {} : { channel }),
    ...(codeLength === undefined ? {} : { code_length: codeLength }),
    ...(expiresIn === undefined ? {} : { expires_in: Math.round(expiresIn / 1_000) }),
    ...(text === undefined ? {} : { text }),
  };
}
