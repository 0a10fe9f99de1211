import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { defaultHost, defaultPort } from '../../../contract/index.js';
import type { Service } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { withoutPassword } from '../../config/database-url.js';
import { serviceDirectory } from '../../config/folders.js';
import { CliError, machineError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { readChoice, readCount, readName } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { keyCreatedAs, unwritten } from '../../single/shown.js';
import { holdWarning } from '../service/store.js';
import { readCertificate } from './certificate.js';
import { addDashboardOptions, type DashboardOptions, dashboardOf } from './dashboard.js';
import { databaseAccess } from './database.js';
import { firstKey } from './first-key.js';
import {
  type AddressOptions,
  checkProxies,
  hasMetrics,
  openListeners,
  readNetworks,
  renewCertificate,
} from './listeners.js';
import { loginAt } from './login-at.js';
import { openInFolder, openOnDatabase } from './open-service.js';
import { sandboxKeyOf } from './sandbox-key.js';
import { warningsOf } from './warnings.js';

interface Serving {
  base_url: string;
  data: string;
  /** Only on the first start, and only for a terminal or a program. */
  api_key: string | null;
}

const view: View<Serving> = {
  columns: [field('base_url'), field('data'), field('api_key')],
  record: (serving) => serving,
};

interface Options extends AddressOptions, DashboardOptions {
  data?: string;
  config?: string;
  database?: string;
  acceptData?: boolean;
  drainTime?: number;
}

/** Milliseconds for the last answers of a service that has lost its data. */
const closeWithin = 2_000;
/** Milliseconds after a SIGTERM: a single SMS waits 20 s for its carrier, which then has 10 s for what is in flight. */
const stopWithin = 40_000;
/** Seconds in which load balancers see that it is not ready; Docker kills after 10. */
const defaultDrainTime = 5;

export const serve: CommandBody = (command, context) => {
  command
    .description(
      'Run the service on this machine. It delivers to a simulated operator and reaches nobody; with --config it sends over real carriers. The first start creates a key.',
    )
    .option('--host <host>', 'address to listen on', defaultHost)
    .option('--port <port>', 'port to listen on; 0 takes a free one', readPort, defaultPort)
    .option('--data <folder>', 'folder of its data (default: in the state folder)', readName)
    .option('--config <file>', 'carriers that send for real (default: a simulated operator)')
    .option('--database <url>', 'keep the data in PostgreSQL, for many instances (URTUU_DATABASE)')
    .option('--tls-cert <file>', 'listen with TLS: certificate and chain in PEM')
    .option('--tls-key <file>', 'its private key in PEM')
    .option(
      '--log <what>',
      'requests: write each request to standard error, as a line of JSON',
      readChoice('requests'),
    )
    .option(
      '--trusted-proxy <networks>',
      'proxies whose X-Forwarded-For names the client in the log: 10.0.0.0/8,::1',
      readNetworks,
    )
    .option(
      '--metrics-port <port>',
      'port for /metrics; if --host is loopback, --port serves it too',
      readPort,
    )
    .option('--metrics-host <host>', 'address for --metrics-port', defaultHost)
    .option(
      '--drain-time <seconds>',
      `keep serving, as not ready, this long after SIGTERM; 0 at a terminal (default ${defaultDrainTime})`,
      readDrainTime,
    )
    .option('--accept-data', 'start with damaged data, after listing the losses and asking');
  addDashboardOptions(command);
  addHelp(command, {
    view,
    effects: ['sends'],
    examples: [
      ['urtuu serve --config service.json', 'send over the SMPP routes in service.json'],
      ['urtuu serve --port 0 --data ./data -o ndjson', 'for a test: the first line has the port'],
    ],
    refused: 'the data was served with real carriers; --config is missing',
    endless: true,
    exits: [11],
    json: [
      [
        'on its first start',
        '{"base_url": "http://127.0.0.1:7788/v1", "data": "/home/bat/.local/state/urtuu/service", "api_key": "urtuu_..."}',
      ],
      [
        'later',
        '{"base_url": "http://127.0.0.1:7788/v1", "data": "/home/bat/.local/state/urtuu/service", "api_key": null}',
      ],
    ],
  });
  command.action(async ({ acceptData = false, config: file, drainTime, ...options }: Options) => {
    const { io, config } = context;
    const drainMs = 1_000 * (drainTime ?? (io.isAtTerminal ? 0 : defaultDrainTime));
    io.endless();
    checkProxies(options);
    const page = dashboardOf(options);
    const tls = readCertificate(config, options);
    const database = databaseAccess(config, options);
    if (options.data !== undefined && config.env.URTUU_DATABASE)
      io.warn('URTUU_DATABASE is not used, because --data names a folder.');
    const ownKey = sandboxKeyOf(config);
    const given = {
      metrics: hasMetrics(options),
      ...ownKey,
      ...(file === undefined
        ? {}
        : {
            configuration: {
              file: resolve(config.cwd, file),
              environment: config.env,
              publicUrl: options.publicUrl,
            },
          }),
    };
    // Looked up late: a service on a database needs no home.
    const folder = () =>
      options.data === undefined
        ? serviceDirectory(config.stateDirectory)
        : resolve(config.cwd, options.data);
    // Opening may wait for a lock of the database.
    const opened = io.holdSignals();
    const service =
      database === null
        ? await openInFolder(context, folder(), { acceptData, ...given })
        : await openOnDatabase(context, { ...database, ...given });
    let renew = () => {};
    const release = io.holdSignals({ within: drainMs + stopWithin, onHangUp: () => renew() });
    opened();
    const data = database === null ? folder() : withoutPassword(database.url);
    const { administration, channels } = service;
    if (file === undefined && administration.isReal) throw needsConfiguration(data);
    for (const warning of await warningsOf(context, { tls, database, ...given })) io.warn(warning);
    const listeners = await openListeners(context, service, tls, options, page);
    renew = () => renewCertificate(context, listeners.main, options);
    const key = await firstKey(context, administration, () =>
      database === null ? data : config.stateDirectory,
    );
    const hold = await administration.held();
    await io.print(view, { base_url: listeners.main.url, data, api_key: key.shown?.secret ?? null });
    const lostKey =
      key.shown && unwritten(io.printer, keyCreatedAs(key.shown.id, `urtuu keys revoke ${key.shown.id}`));
    if (lostKey !== null) {
      await listeners.main.close();
      throw lostKey;
    }
    for (const line of [...carrierNotes(channels), ...key.notes]) io.note(line);
    if (key.shown !== null || key.file !== undefined)
      io.note('To use it:', await loginAt(config, listeners.main.url, key.file));
    if (ownKey.sandboxKey !== undefined) io.note('The key in URTUU_SANDBOX_KEY may do everything here.');
    if (hold !== null) io.warn(holdWarning(hold.reason));
    if (listeners.metrics !== null) io.note(`Metrics: ${listeners.metrics.url.replace(/v1$/, 'metrics')}`);
    if (database !== null && key.notes.length === 0) io.note('The database already has an API key.');
    if (database === null && Object.values(channels).includes('simulated')) {
      const outbox = config.commandLine(['sandbox', 'outbox', '--follow'], { '--data': data });
      io.note('To see its messages:', outbox);
    }
    if (listeners.main.dashboard !== null) io.note('Its dashboard:', config.commandLine(['dashboard']));
    let lost = await Promise.race([aborted(context.signal), service.lost]);
    service.drain();
    io.note(drainMs > 0 && lost === undefined ? `Stopping in ${drainMs / 1_000} s.` : 'Stopping.');
    if (drainMs > 0 && lost === undefined)
      lost = (await Promise.race([context.clock.sleep(drainMs), service.lost])) ?? undefined;
    // Without its data the service cannot close properly, and nobody should wait for it.
    if (lost !== undefined) {
      await Promise.race([service.close(), context.clock.sleep(closeWithin)]);
      throw machineError(lost.message, lost, lost.hint);
    }
    await listeners.main.close();
    release();
  });
};

function needsConfiguration(folder: string): CliError {
  return new CliError('refused', exits.refused, `the service in ${folder} sends over real carriers`, {
    hint: 'Add --config with the file of their configuration.',
  });
}

/** Where messages go if they do not leave this machine. */
function carrierNotes(channels: Service['channels']): string[] {
  const names = { sms: 'SMS', email: 'Email' };
  const simulated = (['sms', 'email'] as const).filter((channel) => channels[channel] === 'simulated');
  const off = (['sms', 'email'] as const).filter((channel) => channels[channel] === 'off');
  const real = channels.sms === 'real';
  return [
    ...(simulated.length === 2 ? ['No message leaves this machine: the operators are simulated.'] : []),
    ...(simulated.length === 1 ? simulated.map((channel) => `${names[channel]} is simulated.`) : []),
    ...off.map((channel) => `${names[channel]} is off.`),
    ...(real ? ["The routes' prefixes replace the operators in the settings of projects."] : []),
  ];
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function readDrainTime(written: string): number {
  const seconds = readCount(written);
  if (seconds > 3_600) throw new InvalidArgumentError(`'${written}' is over 3600 seconds`);
  return seconds;
}

function readPort(written: string): number {
  const port = readCount(written);
  if (port > 65_535) throw new InvalidArgumentError(`'${written}' is not a port`);
  return port;
}
