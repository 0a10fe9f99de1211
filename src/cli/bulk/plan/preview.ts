import { defaultNoLinkOperators, measureText, readNumber } from '../../../contract/index.js';
import { withoutLinks } from '../../../contract/links.js';
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
}

/** `longest`: the number of the request with the longest message. */
export async function previewOf(
  plan: FrozenPlan,
  longest: number,
  messages: number,
): Promise<Preview | null> {
  const shown = await Promise.all([0, longest].map((number) => messageOf(plan, number)));
  const [first, second] = shown;
  return first && second ? { messages, first, longest: second } : null;
}

async function messageOf(plan: FrozenPlan, number: number): Promise<PreviewedMessage | null> {
  for await (const request of plan.requests(number)) {
    return plan.meta.channel === 'sms' ? smsOf(request) : emailOf(request);
  }
  return null;
}

/** The price is that of the text with its links, even if they are removed. */
function smsOf({ to: [to = ''], body }: PlannedRequest): PreviewedMessage {
  const { text } = JSON.parse(body) as { text: string };
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
