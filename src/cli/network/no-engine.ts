import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineError } from '../../service/index.js';
import { realPath } from '../config/installation.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { ProcessEnvironment } from '../process-environment.js';

/** The embedded service lacks an SQLite engine; the hint is the command that installs one. */
export function noEngine(
  error: unknown,
  { script = '', nodeVersion }: Pick<ProcessEnvironment, 'script' | 'nodeVersion'>,
): CliError {
  const { isMissing, message: reason } = error as EngineError;
  const message = isMissing
    ? `the embedded service needs SQLite, which Node.js ${nodeVersion.slice(1)} does not have`
    : `the embedded service cannot run: ${reason}`;
  const hint = isMissing
    ? `Install it with: ${engineCommand(realPath(script))}; Node.js 22.16 or newer needs nothing.`
    : 'Use Node.js 22.16 or newer, which has SQLite.';
  return new CliError('machine', exits.machine, message, { hint, cause: error });
}

const engine = '@photostructure/sqlite@1';

const managers = [
  { lock: 'pnpm-lock.yaml', local: 'pnpm add', global: 'pnpm add --global' },
  { lock: 'yarn.lock', local: 'yarn add', global: 'yarn global add' },
  { lock: 'bun.lock', local: 'bun add', global: 'bun add --global' },
];
const npm = { local: 'npm install', global: 'npm install --global' };

/** The command that installs the engine where `urtuu`, at its real path, can load it. */
export function engineCommand(script: string, exists: (path: string) => boolean = existsSync): string {
  const folder = /^(.*?)[\\/]node_modules[\\/]/.exec(script)?.[1];
  // A clone has it in its node_modules.
  if (folder === undefined) return 'npm ci';
  if (/[\\/]_npx[\\/]/.test(script)) return `npx --package=urtuu --package=${engine} urtuu`;
  const has = (name: string) => exists(join(folder, name));
  const manager = managers.find(({ lock }) => has(lock)) ?? npm;
  const isGlobal = !has('package.json') || /[\\/]global(?:[\\/]|$)/.test(folder);
  return `${isGlobal ? manager.global : manager.local} ${engine}`;
}
