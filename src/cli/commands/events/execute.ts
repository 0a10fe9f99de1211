import { spawn } from 'node:child_process';
import type { Config } from '../../config/config.js';
import { platformOf } from '../../platform/platform.js';
import type { Deliver } from './deliver.js';

/** Our variables with secrets. The others, such as URTUU_SANDBOX, say where an urtuu in the command sends. */
const secrets = /^URTUU_(?:API_KEY|SANDBOX_KEY|DATABASE)$/i;

/** Runs a command line of the shell for each event, which stands on its standard input and nowhere else. */
export function execute({ env, platform }: Pick<Config, 'env' | 'platform'>, line: string): Deliver {
  const { file, args } = platformOf(platform).shell(line);
  const given = Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.test(name)));
  return (event) =>
    new Promise((resolve) => {
      const child = spawn(file, args, {
        env: given,
        stdio: ['pipe', 'inherit', 'inherit'],
        windowsVerbatimArguments: true,
      });
      child.once('error', ({ message }) => resolve(message));
      child.once('exit', (code, signal) =>
        resolve(code === 0 ? null : code === null ? `killed by ${signal}` : `exit code ${code}`),
      );
      // It need not read. Without a free descriptor there is none.
      child.stdin?.on('error', () => {}).end(`${JSON.stringify(event)}\n`);
    });
}
