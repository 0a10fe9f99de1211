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
}

/** `longest`: the number of the request with the longest message. */
export async function previewOf(
  plan: FrozenPlan,
  longest: number,
  messages: number,
): Promise<Preview | null> {
  const requests = await Promise.all([0, longest].map((number) => requestOf(plan, number)));
  const isSms = plan.meta.channel === 'sms';
  const [first, second] = requests.map((request) => request && (isSms ? smsOf(request) : emailOf(request)));
  if (!first || !second) return null;
  const reasons = requests.map((request) => (request && isSms ? whyCyrillic(textOf(request)) : null));
  return { messages, first, longest: second, notGsm: [...new Set(reasons.filter((each) => each !== null))] };
}

async function requestOf(plan: FrozenPlan, number: number): Promise<PlannedRequest | null> {
  for await (const request of plan.requests(number)) return request;
  return null;
}

const textOf = ({ body }: PlannedRequest) => (JSON.parse(body) as { text: string }).text;

/** The price is that of the text with its links, even if they are removed. */
function smsOf(request: PlannedRequest): PreviewedMessage {
  const [to = ''] = request.to;
  const text = textOf(request);
  const { parts } = measureText(text);
  const reading = readNumber(to);
  const carriesNoLinks = reading.kind === 'number' && defaultNoLinkOperators.includes(reading.operator);
  const delivered = carriesNoLinks ? (withoutLinks(text) ?? '') : text;
  return { to, subject: null, text: delivered, parts };
}

function emailOf({ to: [to = ''], body }: PlannedRequest): PreviewedMessage {
  const { subject, text, html = '' } = JSON.parse(body) as { subject: string; text?: string; html?: string };
  return { to, subject, text: text ?? textOfHtml(html), parts: null };
}
