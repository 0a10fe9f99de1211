import { spawn } from 'node:child_process';
import { platformOf } from './platform.js';

/** Opens a file or an address in the desktop's browser; false if there is none. */
export function openInBrowser(
  place: string,
  name: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const opener = platformOf(name).opener(name, env);
  if (opener === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(opener.file, [...opener.args, place], { detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
