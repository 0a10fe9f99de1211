import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** The folders of a home in which the command keeps something, and the variables that name others. */
const places = { XDG_STATE_HOME: '.local/state', XDG_CONFIG_HOME: '.config', XDG_CACHE_HOME: '.cache' };

/**
 * Gives the run a home of its own, and fails it when a test has written there: each has to make its own. The home of
 * the user is watched on hosted runners alone: elsewhere the user may be using the command.
 */
export default function setup(): () => void {
  const home = mkdtempSync(join(tmpdir(), 'urtuu-home-'));
  const watched = [home, ...(process.env.GITHUB_ACTIONS === undefined ? [] : homesOfUser())];
  process.env.HOME = home;
  // A file of a secret that its group can change is refused.
  process.umask(0o022);
  for (const name of Object.keys(places)) delete process.env[name];
  const before = kept(watched);
  return () => {
    const written = [...kept(watched)].filter(([path, changed]) => before.get(path) !== changed);
    rmSync(home, { recursive: true, force: true });
    if (written.length === 0) return;
    // An error here is only printed.
    process.exitCode = 1;
    throw new Error(`tests wrote to a home that is not theirs:\n${written.map(([path]) => path).join('\n')}`);
  };
}

/** Every file and folder of the command, and when it was changed. */
function kept(homes: readonly string[]): Map<string, number> {
  const folders = homes.flatMap((home) => Object.values(places).map((folder) => join(home, folder, 'urtuu')));
  return new Map(folders.flatMap(entriesOf));
}

/** A command without a HOME finds that of passwd, where there is one. */
function homesOfUser(): string[] {
  try {
    return [...new Set([homedir(), userInfo().homedir])];
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
