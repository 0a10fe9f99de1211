import type { EventType, UrtuuEvent } from '../../src/contract/index.js';
import { json, Loopback } from './loopback.js';
import { smsMessage } from './resources.js';
import { type Reply, refusal } from './run.js';

/** The events of a project, as a service answers them: in memory, and without a clock. */
export class Feed {
  readonly events: UrtuuEvent[] = [];
  /** What it was asked, without the path. */
  readonly asked: string[] = [];
  #line = 'a00000000001';
  /** The number of the last event that is deleted. */
  deleted = 0;
  #waiting: (() => void)[] = [];
  readonly #expecting = new Set<() => void>();

  /** Resolves while so many calls wait for an event. */
  async waits(count = 1): Promise<void> {
    while (this.#waiting.length < count) await new Promise<void>((resolve) => this.#expecting.add(resolve));
  }

  add(type: EventType = 'message.sent', data: object = smsMessage({})): UrtuuEvent {
    const id = `${this.#line}-${this.events.length + 1}`;
    const event = {
      id,
      type,
      at: `2026-11-21T00:00:${String(this.events.length).padStart(2, '0')}.000Z`,
      data,
    };
    this.events.push(event as UrtuuEvent);
    for (const answer of this.#waiting.splice(0)) answer();
    return event as UrtuuEvent;
  }

  /** What a restore, a reset, or a week without a call does. */
  endLine(line: string): void {
    this.#line = line;
    this.events.length = 0;
    this.deleted = 0;
  }

  async answer(search: string): Promise<Reply> {
    this.asked.push(search);
    const query = new URLSearchParams(search);
    const { after = '', types, limit = '100', wait = '0' } = Object.fromEntries(query);
    const [line = '', number = ''] = after.split('-');
    if (after !== '' && after !== 'now' && (line !== this.#line || Number(number) < this.deleted))
      return refusal(410, 'cursor_expired');
    const from = after === '' ? this.deleted : after === 'now' ? this.events.length : Number(number);
    const wanted = types?.split(',');
    const page = () => {
      const later = this.events.slice(from).filter(({ type }) => wanted?.includes(type) ?? true);
      const data = later.slice(0, Number(limit));
      const next = data.length < later.length ? data.at(-1)?.id : `${this.#line}-${this.events.length}`;
      return { data, next };
    };
    while (wait !== '0' && page().data.length === 0)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        for (const look of this.#expecting) look();
        this.#expecting.clear();
      });
    return { body: page() };
  }
}

/** Feeds at a port of this machine, by the key of their project. */
export async function feedServer(feeds: Readonly<Record<string, Feed>>): Promise<Loopback> {
  return Loopback.listen(async ({ path, headers }, response) => {
    const feed = feeds[String(headers.authorization).replace('Bearer ', '')];
    const answer = feed ? feed.answer(path.split('?')[1] ?? '') : refusal(401, 'unauthorized');
    const { status = 200, body } = await answer;
    json(response, status, body);
  });
}
