import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createService, type SettingsPatch } from '../../src/service/index.js';
import { type Machine, printed } from '../support/binary.js';

/** `urtuu serve` as a process that can be killed and comes back with the same data at the same port. */
export class ServiceProcess {
  port = 0;
  key = '';
  readonly #machine: Machine;
  readonly data: string;
  #child: ChildProcess | null = null;

  constructor(machine: Machine, data: string) {
    this.#machine = machine;
    this.data = data;
  }

  /** Makes the data, with so many credits and these settings over the defaults, and starts. */
  async create(credits: number, settings: SettingsPatch = {}): Promise<void> {
    const service = await createService({ directory: this.data });
    await service.administration.settings.update(settings);
    this.key = (await service.administration.createKey()).secret;
    await service.administration.credit(credits - (await service.administration.credit(0)));
    await service.close();
    await this.start();
  }

  async start(): Promise<void> {
    const args = [
      'serve',
      '--drain-time',
      '0',
      '--port',
      String(this.port),
      '--data',
      this.data,
      '-o',
      'ndjson',
    ];
    this.#child = this.#machine.start(args);
    const line = await printed(this.#child, 'stdout', /\n/);
    this.port = Number(new URL((JSON.parse(line) as { base_url: string }).base_url).port);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    child.kill(signal);
    await once(child, 'close');
  }

  /** Stops, delivers what is left, and counts what every number got. */
  async deliveries(): Promise<Map<string, number>> {
    await this.kill('SIGTERM');
    const service = await createService({ directory: this.data });
    await service.administration.idle();
    const got = new Map<string, number>();
    for await (const { to } of service.administration.outbox()) got.set(to, (got.get(to) ?? 0) + 1);
    await service.close();
    return got;
  }
}
