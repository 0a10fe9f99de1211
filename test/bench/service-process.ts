import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printed, root } from '../support/binary.js';

const program = `
const { createService } = require(${JSON.stringify(join(root, 'dist/service/index.cjs'))});
const [directory, rates] = process.argv.slice(1);
createService({ directory, rates }).then(async (service) => {
  await service.administration.credit(2_000_000_000);
  const { secret } = await service.administration.createKey();
  const { url } = await service.listen({ port: 0 });
  console.log(JSON.stringify({ url, key: secret }));
});`;

export interface RunningService extends AsyncDisposable {
  url: string;
  key: string;
}

/** The built service, durable and rich, in a process of its own. */
export async function startService(rates: 'enforced' | 'off'): Promise<RunningService> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-service-'));
  const child = spawn(process.execPath, ['-e', program, folder, rates], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url, key } = JSON.parse(await printed(child, 'stdout', /\n/));
  return {
    url,
    key,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'close');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
