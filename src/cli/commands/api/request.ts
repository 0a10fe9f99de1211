import { type Call, frozenSendCall, readCall } from '../../../client/call.js';
import { readCallOptions } from '../../../client/call-options.js';
import { UrtuuError } from '../../../client/index.js';
import { sendEndpoints } from '../../../client/send-endpoints.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { appendHistory } from '../../history/append.js';
import type { Sent } from '../../history/file.js';
import type { RawAnswer } from '../../network/raw.js';
import { readKey } from '../../single/options.js';
import { acceptedAs, codeSentAs, ensureShown, type Hidden, keyText } from '../../single/shown.js';
import {
  bodyOf,
  type Field,
  type Header,
  pathBehind,
  readHeaderOption,
  readJsonField,
  readMethod,
  readTextField,
  withQuery,
} from './read-request.js';

interface Options {
  field?: Field[];
  jsonField?: Field[];
  addHeader?: Header[];
  input?: string;
  idempotencyKey?: string;
  include?: boolean;
}

type ApiContext = Pick<Context, 'options' | 'io' | 'network' | 'config' | 'clock'>;

export const api: CommandBody<'options' | 'io' | 'network' | 'config' | 'clock'> = (command, context) => {
  command
    .description('Make a request with the key and base URL of the profile, and print the body of the answer.')
    .argument('<method>', 'GET or POST', readMethod)
    .argument('<path>', '/v1/balance, or balance')
    .option(
      '-f, --field <name=value>',
      'add a text field: to the query of GET, to the JSON body of POST',
      readTextField,
    )
    .option('-F, --json-field <name=json>', 'add a JSON field: a number, true, null or a list', readJsonField)
    .option('--input <file>', 'send a file as the body, or standard input with -')
    .option('-H, --add-header <name: value>', 'add a header', readHeaderOption)
    .option('--idempotency-key <key>', 'key for one of the four sends (default: a new one)', readKey)
    .option('-i, --include', 'print status and headers before the body');
  addHelp(command, {
    effects: ['sends', 'spends'],
    examples: [
      ['urtuu api GET /v1/messages -f status=failed -f limit=5', 'read a list'],
      ["urtuu api POST /v1/sms -f to=99112233 -f text='Сайн уу'", 'send an SMS'],
    ],
    ok: 'the service answered with 2xx',
    exits: [4, 5, 6, 7, 8, 9, 10, 12],
  });
  command.action(async (method: 'GET' | 'POST', written: string, options: Options) => {
    const { config, network } = context;
    const path = pathBehind(config.sandbox ? null : (await config.settings()).baseUrl, written);
    const call = await callOf(context, method, path, options);
    const sender = await network.rawSender(Object.fromEntries(options.addHeader ?? []));
    try {
      await sender.send(call);
    } catch (error) {
      await print(context, sender.newest(), options);
      if (error instanceof UrtuuError && error.inDoubt)
        await remember(context, call, null, error.idempotencyKey);
      throw error;
    }
    const key = network.lastExchange?.idempotencyKey ?? null;
    await remember(context, call, sender.newest(), key);
    await print(context, sender.newest(), options);
    if (sender.newest()?.header('Idempotency-Replayed') === 'true')
      context.io.note(
        'This idempotency key was used before: this is the first answer, nothing new was sent.',
      );
    ensureShown(context.io.printer, hiddenAnswer(call, sender.newest(), key));
  });
};

/** Any JSON with a 2xx is a success. */
const anything = () => null;

const routeOf = (path: string) => path.split('?', 1)[0] ?? '';

const sendPaths = Object.values(sendEndpoints).flatMap((kinds) =>
  Object.values(kinds).map(({ path }) => path),
);

async function callOf(
  { io }: ApiContext,
  method: 'GET' | 'POST',
  path: string,
  { field = [], jsonField = [], input, idempotencyKey }: Options,
): Promise<Call> {
  const fields = [...field, ...jsonField];
  const isSend = method === 'POST' && sendPaths.includes(routeOf(path));
  if (idempotencyKey !== undefined && !isSend) {
    throw usageError('--idempotency-key is for the four sends', `They are POST ${sendPaths.join(', ')}.`);
  }
  if (method === 'GET') {
    if (input !== undefined) throw usageError('GET has no body', 'Use -f for its query.');
    return readCall(withQuery(path, fields), anything, undefined);
  }
  if (input !== undefined && fields.length > 0) {
    throw usageError('--input cannot be combined with -f or -F', 'Use one of them.');
  }
  const body = input === undefined ? bodyOf(fields) : await io.files.text(input);
  if (isSend) return frozenSendCall({ path, proof: anything }, body, { idempotencyKey });
  const settings = readCallOptions({ maxRetries: 0 });
  return { kind: 'verify', path, body, idempotencyKey: null, proof: anything, settings };
}

const shownHeaders = [
  'Content-Type',
  'Date',
  'Retry-After',
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'Idempotency-Replayed',
];

async function print(
  { io }: ApiContext,
  answer: RawAnswer | null,
  { include }: Pick<Options, 'include'>,
): Promise<void> {
  if (answer === null) return;
  if (include) {
    const headers = shownHeaders.flatMap((name) => {
      const value = answer.header(name);
      return value === null ? [] : [`${name}: ${value}\n`];
    });
    await io.printer.text(`HTTP ${answer.status}\n${headers.join('')}\n`);
  }
  const body = answer.body();
  await io.printer.text(body === '' || body.endsWith('\n') ? body : `${body}\n`);
}

/** What a POST did, in case its answer could not be printed; undefined for a GET. */
function hiddenAnswer(
  { path, body }: Call,
  answer: RawAnswer | null,
  key: string | null,
): Hidden | undefined {
  if (body === null) return undefined;
  const route = routeOf(path);
  const { id } = fieldsOf(answer?.body() ?? '');
  if (typeof id === 'string' && /^[\w-]+$/.test(id)) {
    if (route === '/verify') return codeSentAs(id);
    if (sendPaths.includes(route)) return acceptedAs(route.endsWith('/bulk') ? 'batch' : 'message', id, key);
  }
  return {
    message: `POST ${route} was answered with ${answer?.status}; do not send it again.${keyText(key)}`,
    command: 'urtuu history',
    details: { idempotency_key: key },
  };
}

/** Adds a send to the history; without an answer it is in doubt. */
async function remember(
  context: ApiContext,
  { path, body }: Call,
  answer: RawAnswer | null,
  key: string | null,
): Promise<void> {
  const route = routeOf(path);
  if (body === null || (!sendPaths.includes(route) && route !== '/verify')) return;
  const asked = fieldsOf(body);
  const {
    id = null,
    status = 'in_doubt',
    channel = null,
    credits = null,
  } = fieldsOf(answer?.body() ?? '') as Partial<Sent>;
  const to = typeof asked.to === 'string' ? asked.to : null;
  await appendHistory(context, { command: 'api', to, channel, id, status, key, credits });
}

/** Empty for text that is not a JSON object. */
function fieldsOf(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {};
  }
}
