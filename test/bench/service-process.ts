import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printed, root } from '../support/binary.js';

const program = `
const [bundle, directory, rates] = process.argv.slice(1);
const { createService } = require(bundle);
createService({ directory, rates }).then(async (service) => {
  await service.administration.credit(2_000_000_000);
  const { secret } = await service.administration.createKey();
  const { url } = await service.listen({ port: 0 });
  console.log(JSON.stringify({ url, key: secret }));
});`;

export interface RunningService extends AsyncDisposable {
  url: string;
  key: string;
  /** Of its process. */
  pid: number;
}

/** The built service of a tree, durable and rich, in a process of its own. */
export async function startService(rates: 'enforced' | 'off', tree = root): Promise<RunningService> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-service-'));
  const bundle = join(tree, 'dist/service/index.cjs');
  const child = spawn(process.execPath, ['-e', program, bundle, folder, rates], {
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
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
