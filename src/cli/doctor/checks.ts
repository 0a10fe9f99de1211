import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { readKey } from '../config/key.js';
import { configPath } from '../config/profiles.js';
import type { Context } from '../context.js';
import { CliError, machineError } from '../errors.js';
import { type ExitCode, exits } from '../exit-codes.js';
import { failureOf } from '../failure.js';
import { quoteArgument } from '../platform/quote.js';
import { counted, grouped } from '../wording.js';

export interface Check {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  detail: string;
  hint: string | null;
}

/** The first node version that everything here runs on. */
const oldestNode = 20;
const clockMayDiffer = 60_000;

/** Looks at what a send needs, one thing after the other; throws at the end what the worst finding deserves. */
export async function* examine(context: Context): AsyncGenerator<Check> {
  const failed: { check: string; hint: string | undefined; exit: ExitCode }[] = [];
  let count = 0;
  const examined = async (
    check: string,
    look: () => Promise<string | Omit<Check, 'check'>>,
  ): Promise<Check> => {
    count += 1;
    try {
      const found = await look();
      return { check, ...(typeof found === 'string' ? { status: 'ok', detail: found, hint: null } : found) };
    } catch (error) {
      const { message, hint, exit } = await failureOf(error, context);
      failed.push({ check, hint, exit });
      return { check, status: 'failed', detail: message, hint: hint ?? null };
    }
  };

  yield examined('node', async () => nodeVersion(context));
  yield examined('config', () => configuration(context));
  yield examined('data', () => data(context));
  yield examined('base url', () => baseUrl(context));
  yield examined('key', () => keyOf(context));
  if (failed.length === 0) {
    yield examined('service', () => service(context));
    if (context.network.lastExchange !== null) {
      yield examined('clock', async () => clocks(context));
      yield examined('rate', async () => rate(context));
    }
  }
  const [first] = failed;
  if (first === undefined) return;
  const names = failed.map(({ check }) => check).join(', ');
  throw new CliError('unwell', first.exit, `${failed.length} of ${count} checks failed: ${names}`, {
    ...(first.hint === undefined ? {} : { hint: first.hint }),
    details: { failed: failed.map(({ check }) => check) },
  });
}

function nodeVersion({ config: { nodeVersion: version } }: Context): string {
  if (Number(/\d+/.exec(version)?.[0]) >= oldestNode) return version;
  throw new CliError('machine', exits.machine, `${version} is too old`, {
    hint: `Install Node.js ${oldestNode} or newer.`,
  });
}

async function configuration(context: Context): Promise<string> {
  const { directory } = context.config;
  if (directory === null) return 'none: this user has no home folder';
  const { profiles } = await context.config.read();
  const file = configPath(directory);
  if ((await modeOf(file)) === null) return `none at ${file}`;
  const count = Object.keys(profiles).length;
  return `${file}, ${counted(count, 'profile')}, read by nobody else`;
}

/** Jobs keep recipients and texts there, and have to be able to write before anything is sent. */
async function data(context: Context): Promise<string | Omit<Check, 'check'>> {
  const { platform } = context.config;
  let folder: string;
  try {
    folder = context.config.stateDirectory;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message: detail, hint = null } = error;
    return { status: 'warning', detail, hint: `For bulk jobs and --sandbox: ${hint}` };
  }
  const mode = await modeOf(folder);
  if (mode === null) return `none yet at ${folder}`;
  await access(folder, constants.W_OK).catch((error) => {
    throw machineError(`${folder} cannot be written to`, error);
  });
  if (platform === 'win32' || (mode & 0o077) === 0) return `${folder}, read by nobody else`;
  return {
    status: 'warning',
    detail: `${folder} can be read by others on this machine`,
    hint: `Jobs in it hold recipients and texts. Run: chmod 700 ${quoteArgument(folder, platform)}`,
  };
}

/** Null where there is no such file or folder. */
async function modeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mode }) => mode,
    () => null,
  );
}

async function baseUrl(context: Context): Promise<string | Omit<Check, 'check'>> {
  if (context.config.sandbox) return 'the embedded service (--sandbox)';
  const { baseUrl: url } = await context.config.settings();
  if (url.endsWith('/v1')) return url;
  return { status: 'warning', detail: url, hint: 'The address of a service usually ends in /v1.' };
}

async function keyOf(context: Context): Promise<string> {
  if (context.config.sandbox) return 'the key of the embedded service';
  const { key, profileName } = await context.config.settings();
  await readKey(key, context.io.files, context.config.platform);
  const origin = {
    file: 'from --api-key-file',
    environment: 'from URTUU_API_KEY',
    stored: `stored in profile ${profileName}`,
    command: `printed by the key_command of profile ${profileName}`,
    none: '',
  };
  return origin[key.kind];
}

async function service(context: Context): Promise<string> {
  const client = await context.network.client();
  const { balance } = await client.balance.get();
  return `answers in ${Math.round(context.network.lastExchange?.milliseconds ?? 0)} ms; ${grouped(balance)} credits`;
}

function clocks({ network: { lastExchange }, clock }: Context): string | Omit<Check, 'check'> {
  const theirs = Date.parse(lastExchange?.date ?? '');
  if (Number.isNaN(theirs)) return 'the service does not tell its time';
  const seconds = Math.round((clock.now() - theirs) / 1_000);
  if (Math.abs(seconds) * 1_000 <= clockMayDiffer) return 'agrees with that of the service';
  return {
    status: 'warning',
    detail: `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} that of the service`,
    hint: 'Set the clock of this machine; times in reports are wrong until then.',
  };
}

function rate({ network: { lastExchange } }: Context): string | Omit<Check, 'check'> {
  if (lastExchange?.rate == null) return 'the service does not tell its allowance';
  const { limit, remaining } = lastExchange.rate;
  const detail = `${remaining} of ${limit} reading requests left`;
  if (remaining > 0) return detail;
  return { status: 'warning', detail, hint: 'Something else uses the allowance of this project.' };
}
