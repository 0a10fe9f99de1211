import type { Clock } from '../clock.js';

interface Subscriber {
  session: string;
  send(text: string): void;
  end(): void;
  /** The content that was last sent to it. */
  latest: string | null;
}

interface Topic {
  subscribers: Set<Subscriber>;
  cancel(): void;
}

export interface FeedParts {
  clock: Clock;
  /** Whether a session still exists. */
  isOpen(session: string): Promise<boolean>;
  report(error: unknown): void;
}

const lookEvery = 2_000;
/** An empty line keeps the connection open, and detects a lost one. */
const signEvery = 15_000;
const mostStreams = 100;
const mostOfSession = 10;
/** Unread events after which a stream is closed. */
const mostUnread = 8;

/** Live pages: each is rendered once for everybody who watches it, and sent when it has changed. */
export class Feed {
  readonly #parts: FeedParts;
  readonly #topics = new Map<string, Topic>();

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Whether a session may open another stream. */
  hasRoom(session: string): boolean {
    const all = [...this.#topics.values()].flatMap(({ subscribers }) => [...subscribers]);
    return all.length < mostStreams && all.filter((each) => each.session === session).length < mostOfSession;
  }

  /** A stream of events; `look` returns the content of the page called `name`. */
  open(name: string, session: string, look: () => Promise<string>): ReadableStream<Uint8Array> {
    let leave = () => {};
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const encoder = new TextEncoder();
          const subscriber: Subscriber = {
            session,
            latest: null,
            send(text) {
              if ((controller.desiredSize ?? 0) <= 0) subscriber.end();
              else controller.enqueue(encoder.encode(text));
            },
            end() {
              leave();
              controller.close();
            },
          };
          leave = this.#join(name, subscriber, look);
          subscriber.send('retry: 3000\n\n');
        },
        cancel: () => leave(),
      },
      { highWaterMark: mostUnread },
    );
  }

  /** Ends the streams of a session, which are notified; or all, which reconnect when the service is back. */
  end(session?: string): void {
    for (const { subscribers } of this.#topics.values()) {
      for (const each of subscribers) {
        if (session !== undefined && each.session !== session) continue;
        if (session !== undefined) each.send('event: end\ndata:\n\n');
        if (subscribers.has(each)) each.end();
      }
    }
  }

  #join(name: string, subscriber: Subscriber, look: () => Promise<string>): () => void {
    const topic = this.#topics.get(name) ?? this.#begin(name, look);
    topic.subscribers.add(subscriber);
    return () => {
      topic.subscribers.delete(subscriber);
      if (topic.subscribers.size > 0) return;
      topic.cancel();
      if (this.#topics.get(name) === topic) this.#topics.delete(name);
    };
  }

  #begin(name: string, look: () => Promise<string>): Topic {
    const { clock, report } = this.#parts;
    const topic: Topic = { subscribers: new Set(), cancel: () => {} };
    let signed = clock.monotonic();
    const next = () => {
      topic.cancel = clock.after(lookEvery, async () => {
        await this.#tell(topic, look).catch(report);
        if (clock.monotonic() - signed >= signEvery) {
          signed = clock.monotonic();
          for (const each of topic.subscribers) each.send(':\n\n');
        }
        if (topic.subscribers.size > 0) next();
      });
    };
    next();
    this.#topics.set(name, topic);
    return topic;
  }

  async #tell({ subscribers }: Topic, look: () => Promise<string>): Promise<void> {
    const sessions = [...new Set([...subscribers].map(({ session }) => session))];
    const open = await Promise.all(sessions.map((session) => this.#parts.isOpen(session)));
    for (const [index, session] of sessions.entries()) if (!open[index]) this.end(session);
    if (subscribers.size === 0) return;
    const content = JSON.stringify(await look());
    for (const each of subscribers) {
      if (each.latest === content) continue;
      each.latest = content;
      each.send(`data: ${content}\n\n`);
    }
  }
}
