import {
  maxEmailBodyBytes,
  maxParts,
  measureText,
  normalizeAddress,
  type Pricing,
  priceOfSms,
  readNumber,
  unitsPerPart,
} from '../../contract/index.js';
import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { field, type View } from '../output/view.js';
import { sentView } from '../output/views.js';

export interface Estimate {
  to: string;
  channel: 'sms' | 'email';
  /** `latin` or `cyrillic`; null for an email. */
  kind: string | null;
  /** Of an SMS, in units of its parts; of an email, the bytes of its bodies. */
  size: number;
  parts: number | null;
  /** Null if the price list could not be read. */
  credits: number | null;
}

export const estimateView: View<Estimate> = {
  columns: [
    field('to', { kind: 'recipient' }),
    field('channel'),
    field('kind'),
    field('size', { kind: 'number' }),
    field('parts', { kind: 'number' }),
    field('credits', { kind: 'number' }),
  ],
  record: (estimate) => estimate,
};

/** The view of a single send, or of its estimate. */
export const sendView = ({ dryRun }: Record<string, unknown>): View<never> =>
  (dryRun ? estimateView : sentView) as View<never>;

/** The parts and price of an SMS. Throws CliError if the service would refuse it. Sends nothing. */
export async function estimateSms(
  context: Pick<Context, 'io' | 'network'>,
  message: { to: string; text: string },
): Promise<Estimate> {
  const reading = readNumber(message.to);
  if (reading.kind !== 'number') {
    const invalid = reading.kind === 'invalid';
    throw refused(
      invalid ? 'invalid_request' : 'unsupported_number',
      invalid ? 'to: not a phone number' : 'to: no supported operator serves this number',
    );
  }
  const size = measureText(message.text);
  if (size.parts > maxParts) {
    const most = unitsPerPart[size.kind] * maxParts;
    throw refused('message_too_long', `the text has ${size.units} characters; the limit is ${most}`);
  }
  const pricing = await priceList(context);
  const credits =
    pricing && priceOfSms(size.parts, pricing.sms.credits_per_part, pricing.sms.rate_multiplier);
  return {
    to: reading.number,
    channel: 'sms',
    kind: size.kind,
    size: size.units,
    parts: size.parts,
    credits,
  };
}

/** The size and price of an email. Throws CliError if the service would refuse it. Sends nothing. */
export async function estimateEmail(
  context: Pick<Context, 'io' | 'network'>,
  message: { to: string; html?: string | undefined; text?: string | undefined },
): Promise<Estimate> {
  const to = normalizeAddress(message.to);
  if (to === null) throw refused('invalid_request', 'to: not an email address');
  const size = Buffer.byteLength(message.html ?? '') + Buffer.byteLength(message.text ?? '');
  if (size > maxEmailBodyBytes) {
    throw refused('message_too_long', `html and text have ${size} of ${maxEmailBodyBytes} bytes`);
  }
  const pricing = await priceList(context);
  const credits = pricing?.email.credits_per_message ?? null;
  return { to, channel: 'email', kind: null, size, parts: null, credits };
}

/** Null, with a warning, if it cannot be read: the rest of an estimate is still useful. */
async function priceList({ io, network }: Pick<Context, 'io' | 'network'>): Promise<Pricing | null> {
  try {
    return await (await network.client()).pricing.get();
  } catch (error) {
    io.warn(`the price is unknown: ${(error as Error).message}`);
    return null;
  }
}

const refused = (code: string, message: string) =>
  new CliError(code, exits.input, message, { hint: 'Nothing was sent.' });
