import type { ClaimedMessage } from '../../../../src/service/storage/store.js';
import type { Handle } from '../conformance/engine.js';

/** One of two stores, with what its engine returned of messages: numbers are its own. */
export interface Side {
  store: Handle['store'];
  instances: Handle['instances'];
  claimed: Map<string, ClaimedMessage>;
}

/** Plays one call on a side: an answer that is the same on both. */
export type Play = (side: Side) => Promise<unknown>;

export const projects = ['p0', 'p1', 'p2'];
const recipients = {
  sms: Array.from({ length: 6 }, (_, index) => `9911000${index}`),
  email: ['bat@b.mn', 'Bat@b.mn', 'BAT+x@b.mn', 'bat+X@b.mn', 'bat+y@b.mn', 'c@b.mn'],
};
/** The most of each kind that is remembered: older ones are seldom of interest. */
const most = 60;

type Kind =
  | 'message'
  | 'batch'
  | 'verification'
  | 'key'
  | 'token'
  | 'claimed'
  | 'incoming'
  | 'link'
  | 'session';

/** What both stores have been told, for calls that hit something. */
export class World {
  readonly random: () => number;
  readonly #known = new Map<Kind, string[]>();
  #serial = 0;

  constructor(random: () => number) {
    this.random = random;
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  chance(of: number): boolean {
    return this.random() < of;
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  new(kind: Kind): string {
    this.#serial += 1;
    const id = `${kind}-${String(this.#serial).padStart(9, '0')}`;
    this.remember(kind, id);
    return id;
  }

  remember(kind: Kind, id: string): void {
    const known = (this.#known.get(kind) ?? []).filter((one) => one !== id);
    this.#known.set(kind, [...known, id].slice(-most));
  }

  known(kind: Kind): readonly string[] {
    return this.#known.get(kind) ?? [];
  }

  /** Seldom one that does not exist. */
  a(kind: Kind): string {
    const known = this.known(kind);
    return known.length === 0 || this.chance(0.02) ? 'none' : this.of(known);
  }

  some(kind: Kind): string[] {
    const known = this.known(kind);
    const part = this.of([0.1, 0.5, 1]);
    return known.filter(() => this.chance(part));
  }

  project(): string {
    return this.of(projects);
  }

  recipient(channel: 'sms' | 'email' = this.of(['sms', 'email'] as const)): string {
    return this.of(recipients[channel]);
  }

  milliseconds(): number {
    return this.of([0, 1, 5, 1_000, 15_000, 40_000, 300_000, 3_600_000]);
  }
}

/** Their claimed messages, as that side knows them. */
export const claimedOf = (side: Side, ids: readonly string[]): ClaimedMessage[] =>
  ids.flatMap((id) => side.claimed.get(id) ?? []);

/** Attempts of PostgreSQL continue above this after each release. */
const attemptsARelease = 1_000_000;

/** An answer without what is each engine's own. */
export function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  // A pseudonym, by the secret of each store.
  if (typeof value === 'string') return value.replace(/^erased:.*/, 'erased');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name, each]) => name !== 'seq' && each !== undefined);
  return Object.fromEntries(
    entries.map(([name, each]) => [
      name,
      (name === 'attempts' || name === 'attempt') && typeof each === 'number'
        ? each % attemptsARelease
        : comparable(each),
    ]),
  );
}

export const byText = (a: unknown, b: unknown): number =>
  JSON.stringify(comparable(a)) < JSON.stringify(comparable(b)) ? -1 : 1;
