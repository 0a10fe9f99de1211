import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { defaultHost, defaultPort, isLoopback } from '../../../contract/index.js';
import type { Service } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { serviceDirectory } from '../../config/folders.js';
import { CliError, machineError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { readCount } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { addDashboardOptions, type DashboardOptions, dashboardOf, dataWords } from './dashboard.js';
import { databaseAccess, withoutPassword } from './database.js';
import { hostInUrl, listenError } from './listen-error.js';
import { openService, openServiceOn } from './open-service.js';

interface Serving {
  base_url: string;
  data: string;
  /** Only on the first start. */
  api_key: string | null;
}

const view: View<Serving> = {
  columns: [field('base_url'), field('data'), field('api_key')],
  record: (serving) => serving,
};

interface Options extends DashboardOptions {
  host: string;
  port: number;
  data?: string;
  config?: string;
  database?: string;
  acceptData?: boolean;
}

/** Milliseconds for the last answers of a service whose data is gone. */
const closeWithin = 2_000;

export const serve: CommandBody = (command, context) => {
  command
    .description('Run the service on this machine until it is stopped. The first start creates a key.')
    .option('--host <host>', 'address to listen on', defaultHost)
    .option('--port <port>', 'port to listen on; 0 takes a free one', readPort, defaultPort)
    .option('--data <folder>', 'folder of its data (default: in the state folder)')
    .option('--config <file>', 'carriers that send for real (default: a simulated operator)')
    .option('--database <url>', 'keep the data in PostgreSQL, for many instances (URTUU_DATABASE)')
    .option('--accept-data', 'start with damaged data, after listing the losses and asking');
  addDashboardOptions(command);
  addHelp(command, {
    view,
    examples: [
      ['urtuu serve --config service.json', 'send over the SMPP routes in service.json'],
      ['urtuu serve --port 0 --data ./data -o ndjson', 'for a test: the first line has the port'],
    ],
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
  command.action(async ({ host, port, acceptData = false, config: file, ...where }: Options) => {
    const { io, config } = context;
    const page = dashboardOf(where, host);
    const database = databaseAccess(config, where);
    const configuration =
      file === undefined
        ? {}
        : { configuration: { file: resolve(config.cwd, file), environment: config.env } };
    const folder =
      where.data === undefined ? serviceDirectory(config.stateDirectory) : resolve(config.cwd, where.data);
    const release = io.holdSignals();
    const service =
      database === null
        ? await openService(context, folder, { acceptData, ...configuration })
        : await openServiceOn(context, { ...database, ...configuration });
    const data = database === null ? folder : withoutPassword(database.url);
    const { administration, channels } = service;
    if (file === undefined && administration.isReal) throw needsConfiguration(data);
    const listening = await service.listen({ host, port, ...page }).catch((error) => {
      throw listenError(host, port, error);
    });
    if (!isLoopback(hostInUrl(host).toLowerCase())) io.warn(plainTextWarning(host));
    const key = (await administration.createFirstKey())?.secret ?? null;
    await io.print(view, { base_url: listening.url, data, api_key: key });
    for (const line of carrierNotes(channels)) io.note(line);
    if (key !== null) io.note('Save the key now: it is not shown again.');
    else if (database !== null) io.note('The database already has an API key.');
    if (database === null) {
      const outbox = config.commandLine(['sandbox', 'outbox', '--follow', '--data', folder]);
      io.note('Its messages, apart from those of --sandbox:', outbox);
    }
    if (listening.dashboard !== null)
      io.note('Its dashboard:', config.commandLine(['dashboard', ...dataWords(where)]));
    const lost = await Promise.race([aborted(context.signal), service.lost]);
    io.note('Stopping.');
    // Without its data the service cannot close in order, and nobody should wait for it.
    if (lost !== undefined) {
      await Promise.race([service.close(), context.clock.sleep(closeWithin)]);
      throw machineError(lost.message, lost, lost.hint);
    }
    await listening.close();
    release();
  });
};

function needsConfiguration(folder: string): CliError {
  return new CliError('refused', exits.refused, `the service in ${folder} sends over real carriers`, {
    hint: 'Start it with their configuration: urtuu serve --config <file>',
  });
}

/** Where messages go that do not leave this machine. */
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

const plainTextWarning = (host: string) =>
  `Listening on ${host} without TLS: keys, numbers and texts cross the network as plain text. Put a TLS proxy in front, or listen on ${defaultHost}.`;

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function readPort(written: string): number {
  const port = readCount(written);
  if (port > 65_535) throw new InvalidArgumentError(`'${written}' is not a port`);
  return port;
}
