import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printed, root } from '../../support/binary.js';
import { gatewayProgram } from '../gateway.js';
import { centreProgram } from '../smpp.js';
import { relayProgram } from '../smtp.js';
import { core, sideOf } from './bundles.js';
import type { Comparison } from './sides.js';

/** A batch through a carrier to a peer in a process of its own, each side with one of its own. */
const carrierRow = (
  what: string,
  kind: 'batch' | 'email batch',
  program: string,
  configurationOf: (port: number) => object,
): Comparison => ({
  what: `carrier: a batch of 1,000 ${what}`,
  pairs: 3,
  slices: 12,
  warm: 4,
  async open(tree) {
    const peer = spawn(process.execPath, ['-e', program], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const port = Number(await printed(peer, 'stdout', /\n/));
    const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-against-'));
    const file = join(folder, 'service.json');
    writeFileSync(file, JSON.stringify(configurationOf(port)), { mode: 0o600 });
    const side = await sideOf(kind, core(tree), file);
    return {
      measure: () => side.measure(),
      async close() {
        await side.close();
        peer.kill('SIGKILL');
        rmSync(folder, { recursive: true });
      },
    };
  },
});

const password = { env: 'PASSWORD' };
const smsOver = (route: object) => ({
  email: 'off',
  sms: { routes: [{ name: 'peer', prefixes: ['88'], per_second: 20_000, ...route }] },
});

export const carrierComparisons: Record<string, readonly Comparison[]> = {
  smpp: [
    carrierRow('over SMPP', 'batch', centreProgram, (port) =>
      smsOver({ smpp: `smpp://127.0.0.1:${port}`, system_id: 'urtuu', password, window: 50 }),
    ),
  ],
  smtp: [
    carrierRow('over SMTP', 'email batch', relayProgram, (port) => ({
      sms: 'off',
      email: { smtp: `smtp://127.0.0.1:${port}`, from: 'no-reply@example.mn', connections: 10 },
    })),
  ],
  gateway: [
    carrierRow('over a gateway', 'batch', gatewayProgram, (port) =>
      smsOver({
        ...{ http: `http://127.0.0.1:${port}/send`, form: { to: '{number}', text: '{text}' } },
        ...{ accepted: { status: [200] }, id: 'id', concurrent: 50 },
      }),
    ),
  ],
};
