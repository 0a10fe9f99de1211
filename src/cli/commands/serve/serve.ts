import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { defaultHost, defaultPort, isLoopback } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { serviceDirectory } from '../../config/folders.js';
import { machineError } from '../../errors.js';
import { readCount } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { hostInUrl, listenError } from './listen-error.js';
import { openService } from './open-service.js';

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

interface Options {
  host: string;
  port: number;
  data?: string;
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
    .option('--accept-data', 'start with damaged data, after listing the losses and asking');
  addHelp(command, {
    view,
    examples: [
      ['urtuu serve', `listen on ${defaultHost}:${defaultPort}`],
      ['urtuu serve --port 0 --data ./data -o ndjson', 'for a test: the first line has the port'],
    ],
    exits: [],
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
  command.action(async ({ host, port, data, acceptData = false }: Options) => {
    const { io, config } = context;
    const folder = data === undefined ? serviceDirectory(config.stateDirectory) : resolve(config.cwd, data);
    const release = io.holdSignals();
    const service = await openService(context, folder, acceptData);
    const { administration } = service;
    const isFirstStart = (await administration.listKeys()).length === 0;
    const listening = await service.listen({ host, port }).catch((error) => {
      throw listenError(host, port, error);
    });
    if (!isLoopback(hostInUrl(host).toLowerCase())) io.warn(plainTextWarning(host));
    const key = isFirstStart ? (await administration.createKey()).secret : null;
    await io.print(view, { base_url: listening.url, data: folder, api_key: key });
    if (key !== null) io.note('Save the key now: it is not shown again.');
    const outbox = config.commandLine(['sandbox', 'outbox', '--follow', '--data', folder]);
    io.note('Its messages, apart from those of --sandbox:', outbox);
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
