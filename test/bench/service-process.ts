import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printed, root } from '../support/binary.js';

const program = `
const [bundle, rates, directory, database, secretFile] = process.argv.slice(1);
const { createService } = require(bundle);
const secret = secretFile ? require('fs').readFileSync(secretFile) : new Uint8Array(32).fill(7);
const data = database ? { database, secret } : { directory };
createService({ ...data, rates }).then(async (service) => {
  await service.administration.credit(2_000_000_000);
  const { secret } = await service.administration.createKey();
  const { url } = await service.listen({ port: 0, dashboard: { publicUrl: null } });
  const link = await service.administration.createDashboardLink?.();
  console.log(JSON.stringify({ url, key: secret, link }));
});`;

export interface RunningService extends AsyncDisposable {
  url: string;
  key: string;
  /** That signs in to its dashboard. */
  link: string;
  /** Of its process. */
  pid: number;
}

/** The built service of a tree, durable and rich, in a process of its own; on new data where none is given. */
export async function startService(
  rates: 'enforced' | 'off',
  tree = root,
  { directory, database, secretFile }: { directory?: string; database?: string; secretFile?: string } = {},
): Promise<RunningService> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-service-'));
  const bundle = join(tree, 'dist/service/index.cjs');
  const data = [directory ?? folder, database ?? '', secretFile ?? ''];
  const child = spawn(process.execPath, ['-e', program, bundle, rates, ...data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url, key, link } = JSON.parse(await printed(child, 'stdout', /\n/));
  return {
    url,
    key,
    link,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'close');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
