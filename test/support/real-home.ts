import { readdirSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Fails the run when the tests have written what the command keeps into the home of whoever runs them. */
export default function setup(): () => void {
  const before = kept();
  return () => {
    const written = [...kept()].filter(([path, changed]) => before.get(path) !== changed);
    if (written.length === 0) return;
    // An error here is only printed.
    process.exitCode = 1;
    throw new Error(`the tests wrote to the home of this user:\n${written.map(([path]) => path).join('\n')}`);
  };
}

/** Every file and folder of the command, and when it was changed. */
function kept(): Map<string, number> {
  const { LOCALAPPDATA, APPDATA, XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME } = process.env;
  const named = [LOCALAPPDATA, APPDATA, XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME];
  const homes = homesOfUser().flatMap((home) =>
    ['.local/state', '.config', '.cache'].map((folder) => join(home, folder)),
  );
  const folders = new Set([...homes, ...named.filter((folder) => folder !== undefined)]);
  return new Map([...folders].flatMap((folder) => entriesOf(join(folder, 'urtuu'))));
}

/** A command without a HOME finds that of passwd, where there is one. */
function homesOfUser(): string[] {
  try {
    return [homedir(), userInfo().homedir];
  } catch {
    return [];
  }
}

function entriesOf(folder: string): [string, number][] {
  try {
    const names = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })];
    return names.map((name) => join(folder, name)).map((path) => [path, statSync(path).mtimeMs]);
  } catch {
    return [];
  }
}
