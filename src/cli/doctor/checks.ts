import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { Config } from '../config/config.js';
import { kindOf } from '../config/installation.js';
import { readKey } from '../config/key.js';
import { type ConfigFile, configPath } from '../config/profiles.js';
import { CliError, machineError } from '../errors.js';
import { type ExitCode, exits } from '../exit-codes.js';
import type { Files } from '../files/files.js';
import type { Network } from '../network/network.js';
import { readableBalance } from '../network/readable-balance.js';
import { platformOf } from '../platform/platform.js';
import { quoteArgument } from '../platform/quote.js';
import { printedError } from '../printed-error.js';
import { counted, grouped } from '../text/wording.js';
import type { Clock } from '../time/clock.js';

export interface Check {
  check: string;
  status: 'ok' | 'unknown' | 'warning' | 'failed';
  detail: string;
  hint: string | null;
}
type Finding = Omit<Check, 'check'>;

/** The parts of the context that are checked. */
interface Setup {
  readonly files: Pick<Files, 'text'>;
  readonly network: Pick<Network, 'client' | 'lastExchange'>;
  readonly config: Config;
  readonly clock: Clock;
}

const minNodeVersion = 20;
const maxClockSkew = 60_000;

/** Yields each check as it ends. If some failed, throws CliError at the end, with the exit code of the first. */
export async function* runChecks(setup: Setup): AsyncGenerator<Check> {
  const failed: { check: string; hint: string | undefined; exit: ExitCode }[] = [];
  let count = 0;
  const run = async (check: string, work: () => Promise<string | Finding>): Promise<Check> => {
    count += 1;
    try {
      const found = await work();
      return { check, ...(typeof found === 'string' ? { status: 'ok', detail: found, hint: null } : found) };
    } catch (error) {
      const { message, hint, exit } = await printedError(error, setup);
      failed.push({ check, hint, exit });
      return { check, status: 'failed', detail: message, hint: hint ?? null };
    }
  };

  yield run('node', async () => nodeVersion(setup));
  yield run('config', () => configFile(setup));
  yield run('data', () => dataFolder(setup));
  yield run('base url', () => baseUrl(setup));
  // Its settings could not be read.
  if (failed.at(-1)?.check !== 'base url') yield run('key', () => apiKey(setup));
  if (failed.length === 0) {
    yield run('service', () => service(setup));
    if (setup.network.lastExchange !== null) {
      yield run('clock', async () => clockSkew(setup));
      yield run('rate', async () => rateHeadroom(setup));
    }
  }
  const [first] = failed;
  if (first === undefined) return;
  const names = failed.map(({ check }) => check);
  throw new CliError(
    'unwell',
    first.exit,
    `${failed.length} of ${count} checks failed: ${names.join(', ')}`,
    {
      ...(first.hint === undefined ? {} : { hint: first.hint }),
      details: { failed: names },
    },
  );
}

function nodeVersion({ config: { nodeVersion: version, script } }: Setup): string {
  if (Number(/\d+/.exec(version)?.[0]) >= minNodeVersion) return `${version}, ${kindOf(script)}`;
  throw new CliError('machine', exits.machine, `${version} is too old`, {
    hint: `Install Node.js ${minNodeVersion} or newer.`,
  });
}

async function configFile({ config }: Setup): Promise<string | Finding> {
  if (config.directory === null) return 'none: this user has no home folder';
  let profiles: ConfigFile['profiles'];
  try {
    ({ profiles } = await config.read());
  } catch (error) {
    // Without settings none of the commands works either.
    const works = await config.settings().then(
      () => true,
      () => false,
    );
    if (!works || !(error instanceof CliError)) throw error;
    return { status: 'warning', detail: error.message, hint: `No profile is used. ${error.hint}` };
  }
  const file = configPath(config.directory);
  if ((await modeOf(file)) === null) return `none at ${file}`;
  return `${file}, ${counted(Object.keys(profiles).length, 'profile')}${privately(config)}`;
}

/** Jobs store recipients and texts there, and need to write before anything is sent. */
async function dataFolder({ config }: Setup): Promise<string | Finding> {
  const { platform } = config;
  let folder: string;
  try {
    folder = config.stateDirectory;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message: detail, hint = null } = error;
    return { status: 'warning', detail, hint: `For bulk jobs and --sandbox: ${hint}` };
  }
  const mode = await modeOf(folder);
  if (mode === null) return `none yet at ${folder}`;
  await access(folder, constants.W_OK).catch((error) => {
    throw machineError(`cannot write to ${folder}`, error);
  });
  if (!platformOf(platform).hasFileModes || (mode & 0o077) === 0) return `${folder}${privately(config)}`;
  return {
    status: 'warning',
    detail: `${folder} can be read by others on this machine`,
    hint: `Jobs in it hold recipients and texts. Run: chmod 700 ${quoteArgument(folder, platform)}`,
  };
}

/** Empty if modes are not checked. */
const privately = ({ platform }: Pick<Config, 'platform'>) =>
  platformOf(platform).hasFileModes ? ', private' : '';

/** Null if there is no such file or folder. */
async function modeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mode }) => mode,
    () => null,
  );
}

async function baseUrl({ config }: Setup): Promise<string | Finding> {
  if (config.sandbox) return 'the embedded service (--sandbox)';
  const { baseUrl: url } = await config.settings();
  if (url.endsWith('/v1')) return url;
  return { status: 'warning', detail: url, hint: 'The base URL of a service usually ends in /v1.' };
}

async function apiKey({ config, files }: Setup): Promise<string> {
  if (config.sandbox) return 'the key of the embedded service';
  const { key, profileName } = await config.settings();
  await readKey(key, files, config.platform);
  const origin = {
    file: 'from --api-key-file',
    environment: 'from URTUU_API_KEY',
    stored: `stored in profile ${profileName}`,
    command: `printed by the key_command of profile ${profileName}`,
    none: '',
    refused: '',
  };
  return origin[key.kind];
}

async function service({ network }: Setup): Promise<string> {
  const balance = await readableBalance(await network.client());
  const milliseconds = Math.round(network.lastExchange?.milliseconds ?? 0);
  const found = balance === null ? 'the key cannot read' : `${grouped(balance)} credits`;
  return `answers in ${milliseconds} ms; ${found}`;
}

const unknown = (detail: string): Finding => ({ status: 'unknown', detail, hint: null });
const unanswered = unknown('the service did not answer');

function clockSkew({ network, config, clock }: Setup): string | Finding {
  if (config.sandbox) return 'is that of the embedded service';
  const exchange = network.lastExchange;
  if (exchange?.status == null) return unanswered;
  const { serviceTime } = exchange;
  if (serviceTime === null) return unknown('the service sends no time');
  const seconds = Math.round((clock.now() - serviceTime) / 1_000);
  if (Math.abs(seconds) * 1_000 <= maxClockSkew) return 'agrees with the service';
  return {
    status: 'warning',
    detail: `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the service`,
    hint: 'Set the clock of this machine; times in reports are wrong until then.',
  };
}

function rateHeadroom({ network }: Setup): string | Finding {
  const exchange = network.lastExchange;
  if (exchange?.status == null) return unanswered;
  const { rate } = exchange;
  if (rate === null) return unknown('the service sends no rate limit');
  const detail = `${rate.remaining} of ${rate.limit} reading requests left`;
  if (rate.remaining > 0) return detail;
  return { status: 'warning', detail, hint: 'Another program is using up the rate limit of this project.' };
}
