import { defaultNoLinkOperators, measureText, readNumber } from '../../../contract/index.js';
import { withoutLinks } from '../../../contract/links.js';
import { whyCyrillic } from '../../text/gsm.js';
import { textOfHtml } from '../../text/html-text.js';
import type { FrozenPlan, PlannedRequest } from './plan.js';

/** A message as its recipient will receive it. */
export interface PreviewedMessage {
  to: string;
  /** Null for an SMS. */
  subject: string | null;
  /** The text; for an email with only an HTML body, the text in it. */
  text: string;
  /** Null for an email. */
  parts: number | null;
}

export interface Preview {
  /** The number of different messages. */
  messages: number;
  first: PreviewedMessage;
  longest: PreviewedMessage;
  /** Why texts that are Latin but for some characters are Cyrillic. */
  notGsm: string[];
  /** The number of the request with the longest one; the first one is in request 0. */
  longestRequest: number;
}

/** `longest`: the number of the request with the longest message. */
export async function previewOf(
  plan: FrozenPlan,
  longest: number,
  messages: number,
): Promise<Preview | null> {
  const requests = await Promise.all([0, longest].map((number) => requestOf(plan, number)));
  const isSms = plan.meta.channel === 'sms';
  const [first, second] = requests.map((request) => request && previewed(request, isSms));
  if (!first || !second) return null;
  const reasons = requests.map((request) => (request && isSms ? whyCyrillic(textOf(request)) : null));
  return {
    ...{ messages, first, longest: second, longestRequest: longest },
    notGsm: [...new Set(reasons.filter((each) => each !== null))],
  };
}

/** The message of a request as its first recipient will receive it. */
export const previewed = (request: Sent, isSms: boolean): PreviewedMessage =>
  isSms ? smsOf(request) : emailOf(request);

export async function requestOf(plan: FrozenPlan, number: number): Promise<PlannedRequest | null> {
  for await (const request of plan.requests(number)) return request;
  return null;
}

type Sent = Pick<PlannedRequest, 'to' | 'body'>;

const textOf = ({ body }: Sent) => (JSON.parse(body) as { text: string }).text;

/** The price is that of the text with its links, even if they are removed. */
function smsOf(request: Sent): PreviewedMessage {
  const [to = ''] = request.to;
  const text = textOf(request);
  const { parts } = measureText(text);
  const reading = readNumber(to);
  const carriesNoLinks = reading.kind === 'number' && defaultNoLinkOperators.includes(reading.operator);
  const delivered = carriesNoLinks ? (withoutLinks(text) ?? '') : text;
  return { to, subject: null, text: delivered, parts };
}

function emailOf({ to: [to = ''], body }: Sent): PreviewedMessage {
  const { subject, text, html = '' } = JSON.parse(body) as { subject: string; text?: string; html?: string };
  return { to, subject, text: text ?? textOfHtml(html), parts: null };
}
