import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printed, root } from '../support/binary.js';
import { cpuOfProcess } from './cpu.js';
import { inPairs, median, type Row } from './pairs.js';
import { postRate } from './service-http.js';
import { type RunningService, startService } from './service-process.js';

/** A folder where `npm install express` was run. */
const expressFolder = process.env.URTUU_BENCH_EXPRESS ?? '';
const sends = 2_000;
const text = 'Сайн байна уу, таны захиалга ирлээ.';

type Peer = Pick<RunningService, 'url' | 'key' | 'pid'> & AsyncDisposable;

async function startExpress(): Promise<Peer> {
  const data = mkdtempSync(join(tmpdir(), 'urtuu-bench-express-'));
  const file = join(root, 'test/bench/one-file-express.cjs');
  const child = spawn(process.execPath, [file, expressFolder, root, data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url, key } = JSON.parse(await printed(child, 'stdout', /\n/));
  return {
    url,
    key,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'close');
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** POST /v1/sms by a caller who is alone, so that nothing shares a commit. */
export async function alone(pairs = 7): Promise<Row[]> {
  const what = 'service: POST /v1/sms, 1 connection, durable';
  const goal = 'its rate';
  if (!existsSync(join(expressFolder, 'node_modules/express'))) {
    const measured = 'not measured: run npm install express in a folder, and name it in URTUU_BENCH_EXPRESS';
    return [{ what, against: 'a service in one file of Express', goal, measured, met: false }];
  }
  await using service = await startService('off');
  await using express = await startExpress();
  let recipient = 99_100_000;
  const sideOf = (peer: Peer) => {
    const cpu: number[] = [];
    const rate = async () => {
      const before = cpuOfProcess(peer.pid);
      const made = await postRate(peer, '/sms', sends, 1, () => ({ to: `${recipient++}`, text }));
      cpu.push(((cpuOfProcess(peer.pid) - before) * 1_000) / sends);
      return made;
    };
    return { rate, cpu };
  };
  const ours = sideOf(service);
  const theirs = sideOf(express);
  const { ratio, a, b } = await inPairs(ours.rate, theirs.rate, pairs);
  const us = ({ cpu }: { cpu: number[] }) => median(cpu.slice(1)).toFixed(0);
  return [
    {
      what,
      against: 'a service in one file of Express, with the same SQLite',
      goal,
      measured: `${ratio.toFixed(2)} (${a.toFixed(0)}/s to ${b.toFixed(0)}/s; cpu ${us(ours)} to ${us(theirs)} us)`,
      met: ratio >= 1,
    },
  ];
}
