import { grouped } from '../../text/wording.js';
import { anyMessage, messageHashOf, PairSet } from './pair-set.js';
import type { FrozenPlan, PlannedRequest } from './plan.js';

/** All differences between two plans, for people; at least one. */
export async function differencesOf(before: FrozenPlan, now: FrozenPlan): Promise<string[]> {
  const old = before.meta;
  const made = now.meta;
  const differences: string[] = [];
  const differs = (what: string, was: string, is: string) => {
    if (was !== is) differences.push(`${what} changed from ${was} to ${is}`);
  };
  differs('the channel', old.channel, made.channel);
  differs('the base URL', old.baseUrl, made.baseUrl);
  differs('the file', old.source, made.source);
  differs('the columns', old.columns.join(', '), made.columns.join(', '));
  differs('the number of recipients', grouped(old.recipients), grouped(made.recipients));
  const added = await compare(now, before);
  const removed = await compare(before, now);
  const recipient = (added.changed ?? removed.changed)?.to ?? null;
  // Without a recipient in both plans, any two messages are compared.
  if (recipient !== null || added.areAllOthers) {
    const was = await messageTo(before, recipient);
    const is = await messageTo(now, recipient);
    for (const name of new Set([...Object.keys(was), ...Object.keys(is)]))
      differs(`the ${name}`, shown(was[name]), shown(is[name]));
  }
  const recipients = [
    ...(added.others > 0 ? [`${grouped(added.others)} added (first in line ${added.line})`] : []),
    ...(removed.others > 0 ? [`${grouped(removed.others)} removed`] : []),
  ];
  if (recipients.length > 0) differences.push(`the recipients differ: ${recipients.join(', ')}`);
  return differences.length === 0 ? ['the order of the recipients differs'] : differences;
}

interface Comparison {
  /** The number of recipients missing in the other plan, and the first line of one. */
  others: number;
  line: number;
  areAllOthers: boolean;
  /** A recipient of both plans, with a message that the other plan does not send to it. */
  changed: { to: string } | null;
}

async function compare(plan: FrozenPlan, other: FrozenPlan): Promise<Comparison> {
  const known = new PairSet();
  for await (const request of other.requests()) {
    const message = messageHashOf(request);
    for (const to of request.to) {
      known.add(to, anyMessage);
      known.add(to, message);
    }
  }
  const found: Comparison = { others: 0, line: Number.POSITIVE_INFINITY, areAllOthers: true, changed: null };
  for await (const request of plan.requests()) {
    const message = messageHashOf(request);
    request.to.forEach((to, index) => {
      const line = request.lines[index] ?? found.line;
      if (known.find(to, anyMessage) === -1) {
        found.others += 1;
        found.line = Math.min(found.line, line);
        return;
      }
      found.areAllOthers = false;
      if (known.find(to, message) === -1) found.changed ??= { to };
    });
  }
  return found;
}

/** The fields of the first message to a recipient, or to any recipient if null. */
async function messageTo(plan: FrozenPlan, recipient: string | null): Promise<Record<string, unknown>> {
  for await (const request of plan.requests())
    if (recipient === null || request.to.includes(recipient)) return messageOf(request);
  return {};
}

function messageOf({ body }: PlannedRequest): Record<string, unknown> {
  const { to: _, ...message } = JSON.parse(body) as Record<string, unknown>;
  return message;
}

const longestShown = 60;

function shown(value: unknown): string {
  if (value === undefined) return 'none';
  const text = String(value);
  return JSON.stringify(text.length <= longestShown ? text : `${text.slice(0, longestShown - 1)}…`);
}
