import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createService, type Service } from '../../src/service/index.js';
import { Machine, root } from '../support/binary.js';
import { recipients } from '../torture/people.js';

/** How `urtuu` is called: as it ships, or through something that is wrong. */
export type Wrapper = 'none' | 'swallows_signals' | 'ends_with_0' | 'tries_again';

const scripts: Record<Wrapper, (urtuu: string) => string> = {
  none: (urtuu) => `exec ${urtuu} "$@"`,
  swallows_signals: (urtuu) => `trap "" INT; ${urtuu} "$@"; exit 0`,
  ends_with_0: (urtuu) => `${urtuu} "$@"; exit 0`,
  tries_again: (urtuu) => `${urtuu} "$@" || exec ${urtuu} "$@"`,
};

/** A service that listens, a machine, and the command on it. */
export class Stage {
  readonly machine = new Machine();
  /** The command, as a script. */
  readonly command = join(this.machine.home, 'urtuu');
  readonly #service: Service;
  readonly #url: string;
  #people = 0;

  private constructor(service: Service, url: string) {
    this.#service = service;
    this.#url = url;
  }

  static async set(wrapper: Wrapper, program: string[] = [join(root, 'bin/urtuu.js')]): Promise<Stage> {
    const service = await createService({ rates: 'off' });
    await service.administration.credit(1_000_000);
    const stage = new Stage(service, (await service.listen({ port: 0 })).url);
    const urtuu = [process.execPath, ...program].map((word) => `'${word}'`).join(' ');
    writeFileSync(stage.command, `#!/bin/bash\n${scripts[wrapper](urtuu)}\n`);
    chmodSync(stage.command, 0o755);
    return stage;
  }

  /** A machine with a key for the service. */
  get environment(): NodeJS.ProcessEnv {
    return this.machine.environment({ URTUU_API_KEY: this.#service.localKey, URTUU_BASE_URL: this.#url });
  }

  /** Numbers nobody else here has. */
  people(count: number): string[] {
    this.#people += count;
    return recipients(this.#people - count, count);
  }

  /** A list of people with a text of their own each, which makes a request each. */
  list(name: string, people: readonly string[]): string {
    const file = join(this.machine.home, `${name}.csv`);
    writeFileSync(file, `phone,n\n${people.map((number, at) => `${number},${at}`).join('\n')}\n`);
    return file;
  }

  /** How many messages each of them got. */
  async messagesTo(people: readonly string[]): Promise<number[]> {
    await this.#service.administration.idle();
    const got = new Map<string, number>(people.map((number) => [number, 0]));
    for await (const { to } of this.#service.administration.outbox()) {
      const count = got.get(to);
      if (count !== undefined) got.set(to, count + 1);
    }
    return [...got.values()];
  }

  async close(): Promise<void> {
    await this.#service.close();
    this.machine.remove();
  }
}

/** Collects what is not as it has to be. */
export class Complaints {
  readonly all: string[] = [];
  checks = 0;

  expect(isRight: boolean, otherwise: string): void {
    this.checks += 1;
    if (!isRight) this.all.push(otherwise);
  }
}
