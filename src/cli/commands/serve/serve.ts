import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { defaultHost, defaultPort } from '../../../contract/index.js';
import type { Context } from '../../context.js';
import { describe } from '../../describe.js';
import { machineError } from '../../errors.js';
import { readCount } from '../../options.js';
import { field, type View } from '../../output/view.js';
import type { CommandBody } from '../../program.js';
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
}

export const serve: CommandBody = (command, context) => {
  command
    .description(
      'Run the service on this machine until it is stopped. The first start makes a key and shows it.',
    )
    .option('--host <host>', 'address to listen on', defaultHost)
    .option('--port <port>', 'port to listen on; 0 takes a free one', readPort, defaultPort)
    .option('--data <folder>', 'where its data is kept (default: in the state folder)');
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
  command.action(async ({ host, port, data }: Options) => {
    const folder = data === undefined ? serviceDirectory(context) : resolve(context.cwd, data);
    const release = context.holdSignals();
    const service = await context.service(folder);
    const { administration } = service;
    const first = (await administration.listKeys()).length === 0;
    const listening = await service.listen({ host, port }).catch((error) => {
      throw machineError(`${host}:${port} cannot be listened on`, error, 'Choose another with --port.');
    });
    const key = first ? (await administration.createKey()).secret : null;
    await context.print(view, { base_url: listening.url, data: folder, api_key: key });
    if (key !== null) context.note('Keep the key now: it is not shown again.');
    await stopped(context);
    context.note('Stopping.');
    await listening.close();
    release();
  });
};

function stopped({ signal }: Context): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function readPort(written: string): number {
  const port = readCount(written);
  if (port > 65_535) throw new InvalidArgumentError(`'${written}' is not a port`);
  return port;
}
