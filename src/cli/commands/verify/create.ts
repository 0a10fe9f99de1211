import type { Channel, VerifyCreateParams } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { readDuration } from '../../input/duration.js';
import { required } from '../../input/required.js';
import { readText } from '../../input/text.js';
import { readChoice, readCount } from '../../options.js';
import { createdExample } from '../../output/examples.js';
import { createdView } from '../../output/views.js';
import { remember } from '../../recent.js';
import { ensureShown } from '../../single/shown.js';

interface Options {
  channel?: Channel;
  codeLength?: number;
  expiresIn?: number;
  text?: string;
  textFile?: string;
}

export const verifyCreate: CommandBody = (command, context) => {
  command
    .description('Send a verification code by SMS or email.')
    .argument('[to]', 'recipient number or address')
    .option(
      '--channel <channel>',
      'sms or email (default: by the form of the recipient)',
      readChoice('sms', 'email'),
    )
    .option('--code-length <digits>', 'digits of the code, 4 to 8 (default 6)', readCount)
    .option('--expires-in <duration>', 'how long it can be used, 60s to 1h (default 10m)', readDuration)
    .option('--text <text>', 'text with {code} and, if wanted, {brand}; - reads it from standard input')
    .option('--text-file <file>', 'read the text from a file');
  describe(command, {
    view: createdView,
    sends: true,
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
    const source = { value: options.text, file: options.textFile, name: '--text', fileOption: '--text-file' };
    const text = await readText(context.io.files, source);
    const { to } = await required(context.io, {
      to: { value: given, name: '<to>', question: 'Recipient number or address:' },
    });
    const { verify } = await context.network.client();
    const params = paramsOf(to, text, options);
    const verification = await context.io.withProgress('Sending', () => verify.create(params));
    await remember(context.config, verification.id);
    await context.io.print(createdView, verification);
    ensureShown(context, 'The code was sent', verification.id, 'verify get');
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
