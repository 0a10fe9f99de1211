import { grouped } from '../../wording.js';
import type { FrozenPlan, PlannedRequest } from './plan.js';

/** The differences of two plans, for people; at least one. */
export async function differencesOf(before: FrozenPlan, now: FrozenPlan): Promise<string[]> {
  const [old, made] = [before.meta, now.meta];
  const differences: string[] = [];
  const differs = (what: string, was: string, is: string) => {
    if (was !== is) differences.push(`${what} was ${was}, is ${is}`);
  };
  differs('the channel', old.channel, made.channel);
  differs('the base URL', old.baseUrl, made.baseUrl);
  differs('the file', old.source, made.source);
  const [columns, others] = [old.columns.join(', '), made.columns.join(', ')];
  if (columns !== others) differences.push(`the columns were ${columns}, are ${others}`);
  differs('the number of recipients', grouped(old.recipients), grouped(made.recipients));
  const [one, other] = await firstDifference(before, now);
  if (one !== undefined && other !== undefined) {
    const fields = messageOf(one);
    const otherFields = messageOf(other);
    for (const name of new Set([...Object.keys(fields), ...Object.keys(otherFields)])) {
      differs(`the ${name}`, shown(fields[name]), shown(otherFields[name]));
    }
    const sameRecipients = one.to.join() === other.to.join();
    if (!sameRecipients && differences.length === 0) {
      differences.push(`the recipients differ, first in line ${firstLine(one, other)}`);
    }
  }
  return differences.length === 0 ? ['the recipients differ'] : differences;
}

/** The first requests that differ. */
async function firstDifference(
  before: FrozenPlan,
  now: FrozenPlan,
): Promise<[PlannedRequest | undefined, PlannedRequest | undefined]> {
  const others = now.requests()[Symbol.asyncIterator]();
  try {
    for await (const request of before.requests()) {
      const { value: other, done } = await others.next();
      if (done || other.body !== request.body) return [request, done ? undefined : other];
    }
    return [undefined, undefined];
  } finally {
    await others.return?.();
  }
}

function messageOf({ body }: PlannedRequest): Record<string, unknown> {
  const { to: _, ...message } = JSON.parse(body) as Record<string, unknown>;
  return message;
}

const longest = 60;

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = String(value);
  return JSON.stringify(text.length <= longest ? text : `${text.slice(0, longest - 1)}…`);
}

function firstLine(one: PlannedRequest, other: PlannedRequest): number {
  const at = other.to.findIndex((to, index) => one.to[index] !== to);
  return other.lines[at === -1 ? other.lines.length - 1 : at] ?? 0;
}
