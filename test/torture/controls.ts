import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Machine, root } from '../support/binary.js';
import type { FaultProxy } from './fault-proxy.js';
import { writeList } from './people.js';
import type { ServiceProcess } from './service-process.js';

export interface Control {
  machine: Machine;
  service: ServiceProcess;
  proxy: FaultProxy;
  random: () => number;
  numbers: string[];
  kills: number;
}

/**
 * The same kills and faults for a sender without this engine. With `random` every process makes up its keys;
 * with `time` they hold the time, and
 * with `content` the key is a hash of the batch, and somebody adds a row on top of the list in between.
 */
export async function playControl(control: Control, mode: 'random' | 'content' | 'time'): Promise<void> {
  const { machine, service, proxy, random, numbers, kills } = control;
  const script = join(machine.home, 'naive.cjs');
  await build({
    entryPoints: [join(root, 'test/torture/naive.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'cjs',
  });
  const file = join(machine.home, `control-${mode}.csv`);
  const added = mode === 'content' ? numbers.slice(0, 1) : [];
  writeList(file, numbers.slice(added.length));
  const args = [script, `http://127.0.0.1:${proxy.port}/v1`, file, `${file}.done`, mode];
  for (let kill = 0; kill <= kills; kill += 1) {
    const child = spawn(process.execPath, args, { env: machine.environment({ URTUU_API_KEY: service.key }) });
    const ended = once(child, 'close');
    const life = kill === kills ? ended : proxy.passed(1 + Math.floor(random() * 4), 5_000);
    await Promise.race([life, ended]);
    child.kill('SIGKILL');
    await ended;
    if (added.length > 0 && kill === Math.floor(kills / 2)) {
      const [header, ...rows] = readFileSync(file, 'utf8').split('\n');
      writeFileSync(file, [header, `${added[0]},Text 0`, ...rows].join('\n'));
    }
  }
}
