import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FetchRequest } from '../../../../src/client/index.js';
import { Feed } from '../../../support/feed.js';
import { testFolder } from '../../../support/folders.js';
import { smsMessage } from '../../../support/resources.js';
import { fakeService, type Reply, type Result, run, type Setting, testKey } from '../../../support/run.js';

/** A request to the program that gets the events. */
export interface Posted extends Pick<FetchRequest, 'headers'> {
  url: string;
  /** Its event. */
  id: string;
  body: string;
}

interface Run extends Setting {
  key?: string;
  /** What the program answers; without it, it takes each event. */
  answer?: (posted: Posted, count: number) => Reply | Error;
  /** A signal comes as soon as the program got so many. */
  until?: number;
  /** And with it, while it waits, without a program. */
  signalsAfter?: Promise<unknown>;
}

export const target = 'https://shop.example.mn/events';

/** A feed in which so many messages were sent. */
export function feedOf(count: number): Feed {
  const feed = new Feed();
  for (let each = 0; each < count; each += 1) feed.add('message.sent', smsMessage({ id: `m${each}` }));
  return feed;
}

/** A machine on which commands listen to feeds, one after the other, each until a signal. */
export class ListeningMachine {
  readonly state = testFolder();
  readonly posted: Posted[] = [];
  #listeners = new Set<(signal: 'SIGINT') => void>();

  signal(): void {
    for (const listener of this.#listeners) listener('SIGINT');
  }

  /** `feed`: an answer in its place is a fault of the service. */
  async run(feed: Feed | Reply | Error, line: string, given: Run = {}): Promise<Result> {
    const { key = testKey, answer = () => ({ status: 204 }), until = 1, signalsAfter, ...setting } = given;
    let count = 0;
    const service = fakeService(async ({ path }) => {
      if ('answer' in feed) return feed.answer(path.split('?')[1] ?? '');
      return feed;
    });
    void signalsAfter?.then(() => this.signal());
    return run(`events ${line}`, {
      env: { URTUU_API_KEY: key, XDG_STATE_HOME: this.state },
      onSignal: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      fetch: async (url, init) => {
        if (!url.startsWith(target)) return service.fetch(url, init);
        const { headers, body = '' } = init;
        const posted = { url, headers, body, id: JSON.parse(body).id };
        count += 1;
        this.posted.push(posted);
        const reply = answer(posted, count);
        if (count === until) this.signal();
        return fakeService(() => reply).fetch(url, init);
      },
      ...setting,
    });
  }

  get ids(): string[] {
    return this.posted.map(({ id }) => id);
  }

  /** The folders of its listeners. */
  get folders(): string[] {
    const root = join(this.state, 'urtuu', 'events');
    return existsSync(root) ? readdirSync(root).map((name) => join(root, name)) : [];
  }

  /** What is in a file of its only listener. */
  file(name: string): string {
    return readFileSync(join(this.folders[0] ?? '', name), 'utf8');
  }
}
