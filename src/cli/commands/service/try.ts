import { resolve } from 'node:path';
import { normalNumber } from '../../../contract/index.js';
import type { TrialAnswer } from '../../../service/index.js';
import { quoted } from '../../bulk/input/input-error.js';
import type { CommandBody } from '../../command.js';
import { CliError, inputError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { readRecipient } from '../../input/recipients.js';
import { confirmed } from '../../input/required.js';
import { field, type View } from '../../output/view.js';

const view: View<TrialAnswer> = {
  columns: [
    field('rule'),
    field('status', { kind: 'number' }),
    { name: 'ids', value: ({ ids }) => ids.join(' ') },
    field('reason'),
    field('answer'),
  ],
  record: ({ rule, status, ids, reason, answer }) => ({ rule, status, ids, reason, answer }),
};

interface Options {
  config: string;
  yes?: boolean;
}

/** What the service would do after each answer. */
const meanings: Readonly<Record<TrialAnswer['rule'], string>> = {
  accepted: 'The service would mark the message as sent.',
  partly_accepted: 'The service would mark the message as sent, with delivery undelivered.',
  refused: 'The service would refund the message.',
  unknown_recipient: 'The service would refund the message, and may suppress the number.',
  later: 'The service would send the message again after a while.',
  account: 'The service would pause the route, and send the message again.',
  not_sent: 'Nothing was sent. The service would pause the route, and send the message later.',
  unknown:
    'Nobody knows whether it was taken: the service would charge the message, and not send it again unless its route can repeat safely.',
};

const mayHaveArrived: ReadonlySet<TrialAnswer['rule']> = new Set(['unknown', 'partly_accepted']);

export const serviceTry: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Send one real message over a route of a configuration, and explain the answer.')
    .argument('<route>', 'name of a route for SMS, or email')
    .argument('<recipient>', 'phone number, or email address for email')
    .argument('<text>', 'text of the message')
    .requiredOption('--config <file>', 'the configuration, as for urtuu serve');
  addHelp(command, {
    view,
    effects: ['sends', 'spends'],
    notes: [
      'Nothing is stored or charged, and no service needs to run. The request is shown',
      'before the prompt, with secrets as ***. Its message id belongs to no message: a',
      'receipt for it changes nothing. Over SMPP it binds beside the service, which an',
      'operator that allows only one bind refuses.',
      'Exit 5: the message was not accepted.',
      'Exit 6: the outcome is unknown, or a part of the message was accepted.',
      'Exit 13: the configuration is invalid.',
    ],
    examples: [
      ["urtuu service try gateway 99112233 'Hi' --config service.json", 'after a prompt'],
      ["urtuu service try gateway 99112233 'Hi' --config service.json --yes --json", 'in a script'],
      ["urtuu service try email bat@example.mn 'Hi' --config service.json", 'over the mail relay'],
    ],
    ok: 'the carrier accepted the message',
    exits: [5, 6, 8],
    json: '{"rule": "refused", "status": 200, "ids": [], "reason": "HTTP 200", "answer": "ERR 6"}',
  });
  command.action(async (route: string, written: string, text: string, { config: file }: Options) => {
    const { network, config, io } = context;
    const to = readRecipient('any', written);
    if (!to.includes('@') && normalNumber(to) === null)
      throw inputError(`${quoted(written)} is not a phone number: write its 8 digits`, 'Nothing was sent.');
    const source = { file: resolve(config.cwd, file), environment: config.env };
    const trial = await network.carriers((service) => service.tryRoute(source, { route, to, text }));
    for (const line of trial.request.split(/\r?\n/)) io.note(line);
    await confirmed(context, `Send this message to ${to}?`);
    const answer = await trial.send();
    await io.print(view, answer);
    io.note(meanings[answer.rule]);
    if (answer.rule === 'accepted') return;
    const [exit, what] = mayHaveArrived.has(answer.rule)
      ? [exits.doubt, 'may have been sent']
      : [exits.later, 'was not accepted'];
    throw new CliError('check_failed', exit, `the message ${what}: ${answer.rule}`);
  });
};
