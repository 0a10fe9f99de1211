import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { defaultHost, defaultPort } from '../../../contract/index.js';
import type { Service } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import type { Context } from '../../context.js';
import { CliError, machineError } from '../../errors.js';
import { confirmed } from '../../input/required.js';
import { readCount } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { serviceDirectory } from '../sandbox/data.js';

interface Serving {
  base_url: string;
  data: string;
  /** Only on the first start, when one was made. */
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
    .description(
      'Run the service on this machine until it is stopped. The first start makes a key and shows it.',
    )
    .option('--host <host>', 'address to listen on', defaultHost)
    .option('--port <port>', 'port to listen on; 0 takes a free one', readPort, defaultPort)
    .option('--data <folder>', 'where its data is kept (default: in the state folder)')
    .option(
      '--accept-data',
      'start with data that is not whole, after a question that says what is forgotten',
    );
  describe(command, {
    view,
    examples: [
      ['urtuu serve', `listen on ${defaultHost}:${defaultPort}`],
      ['urtuu serve --port 0 --data ./data -o ndjson', 'for a test: a free port, told on the first line'],
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
    const folder = data === undefined ? serviceDirectory(context) : resolve(context.config.cwd, data);
    const release = context.io.holdSignals();
    const service = await opened(context, folder, acceptData);
    const { administration } = service;
    const first = (await administration.listKeys()).length === 0;
    const listening = await service.listen({ host, port }).catch((error) => {
      throw notListening(host, port, error);
    });
    if (!isLoopback(host)) context.io.warn(inTheClear(host));
    const key = first ? (await administration.createKey()).secret : null;
    await context.io.print(view, { base_url: listening.url, data: folder, api_key: key });
    if (key !== null) context.io.note('Keep the key now: it is not shown again.');
    const lost = await Promise.race([stopped(context), service.lost]);
    context.io.note('Stopping.');
    // What was taken away cannot end in order, and nobody has to wait for it.
    if (lost !== undefined) await Promise.race([service.close(), context.clock.sleep(closeWithin)]);
    if (lost !== undefined) throw machineError(lost.message, lost, lost.hint);
    await listening.close();
    release();
  });
};

/** With `acceptData` also on data that is not whole, after a question. */
async function opened(context: Context, folder: string, acceptData: boolean): Promise<Service> {
  try {
    return await context.network.service(folder);
  } catch (error) {
    const { forgotten } = error instanceof CliError ? error.details : {};
    if (!acceptData || typeof forgotten !== 'string') throw error;
    context.io.warn((error as CliError).message);
    context.io.warn(`Starting all the same forgets ${forgotten}.`);
    await confirmed(context, 'Start with the data as it is?');
    return context.network.service(folder, { acceptData });
  }
}

const reasons: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  EADDRINUSE: ['address in use', 'Stop the other program, or choose another port with --port.'],
  EACCES: ['permission denied', 'Choose a port from 1024 on with --port.'],
  EADDRNOTAVAIL: ['not an address of this machine', 'Choose one of its addresses with --host.'],
  ENOTFOUND: ['unknown host', 'Choose an address of this machine with --host.'],
};

function notListening(host: string, port: number, error: NodeJS.ErrnoException): CliError {
  const { code = '' } = error;
  const [what, hint] = reasons[code] ?? [code || error.message, 'Choose others with --host and --port.'];
  const address = host.includes(':') ? `[${host}]` : host;
  return machineError(`cannot listen on ${address}:${port}: ${what}`, error, hint);
}

const isLoopback = (host: string) => /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/i.test(host);

const inTheClear = (host: string) =>
  `Listening on ${host} without TLS: keys, numbers and texts cross the network in the clear. Put a TLS proxy in front, or listen on ${defaultHost}.`;

function stopped({ signal }: Context): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function readPort(written: string): number {
  const port = readCount(written);
  if (port > 65_535) throw new InvalidArgumentError(`'${written}' is not a port`);
  return port;
}
