import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { ReaderMachine } from './reader-machine.js';

/** The steps of deploy/Dockerfile as they are carried out here: without a daemon, in a folder, without network. */
interface Step {
  name: string;
  text: string;
}
const steps: Step[] = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ name: line.split(' ')[0] ?? '', text: line.slice(line.indexOf(' ') + 1) }));
const settingOf = (name: string) => steps.findLast((step) => step.name === name)?.text;

const isRoot = process.getuid?.() === 0;

it.runIf(process.platform === 'linux')(
  'the Dockerfile makes a command that runs as a user without a home on a read-only root, keeps its jobs in the volume, and knows its health',
  async () => {
    await using machine = await ReaderMachine.open();
    const inside = (path: string) => join(machine.folder, 'image', path);
    const sources = inside('src');
    for (const path of [sources, inside('root'), inside('var/lib')]) mkdirSync(path, { recursive: true });
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: inside('root'),
      npm_config_prefix: inside('usr/local'),
      npm_config_cache: inside('root/.npm'),
      npm_config_offline: 'true',
      npm_config_omit: 'optional',
      npm_config_update_notifier: 'false',
    };
    for (const { name, text } of steps) {
      if (name === 'COPY' && text.startsWith('--from=')) continue;
      if (name === 'COPY') {
        const paths = text.split(' ');
        const to = paths.pop() ?? '';
        for (const path of paths)
          cpSync(join(root, path), join(sources, to === './' ? basename(path) : to), { recursive: true });
      } else if (text === 'npm ci --ignore-scripts') {
        symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'));
      } else if (name === 'RUN') {
        const here = text
          .replaceAll(/(?<=[ =])\/(?=root|var)/g, `${inside('')}/`)
          .replaceAll(/--(?:owner|group)=node /g, '');
        const { code, stderr } = await machine.run('sh', ['-ec', `cd '${sources}'; ${here}`], env);
        expect({ text, code, stderr: code === 0 ? '' : stderr }).toEqual({ text, code: 0, stderr: '' });
      }
    }

    expect(settingOf('USER')).toBe('node');
    expect(settingOf('ENTRYPOINT')).toBe('["urtuu"]');
    const volume = settingOf('VOLUME') ?? '';
    expect(settingOf('ENV')).toBe(`XDG_STATE_HOME=${volume}`);
    const state = inside(volume);
    expect(statSync(state).mode & 0o777).toBe(0o700);
    expect(existsSync(inside('root/.npm'))).toBe(false);

    const stranger = ['--reuid=54321', '--regid=54321', '--clear-groups'];
    for (const path of [machine.folder, inside('root')]) chmodSync(path, 0o755);
    if (isRoot) expect((await machine.run('chown', ['54321:54321', state])).code).toBe(0);
    // Nothing but the volume can be written.
    const readOnly = `mount --make-rprivate / && mount --bind '${state}' '${state}' && mount -o remount,bind,ro /`;
    const inContainer = (...command: string[]) => {
      const confined = [`${readOnly} && cd '${machine.folder}' && exec "$@"`, 'sh', 'setpriv', ...stranger];
      const [file = '', ...rest] = isRoot
        ? ['unshare', '--mount', 'sh', '-ec', ...confined, '--', ...command]
        : command;
      const { URTUU_BASE_URL = '', URTUU_API_KEY = '' } = machine.environment;
      return machine.run(file, rest, {
        PATH: `${inside('usr/local/bin')}:${env.PATH}`,
        XDG_STATE_HOME: state,
        URTUU_BASE_URL,
        URTUU_API_KEY,
      });
    };
    const urtuu = (...args: string[]) => inContainer('urtuu', ...args);
    const job = ['sms', 'bulk', 'list.csv', '--text', 'Hi {name}', '--yes', '--job', 'july'];
    expect(await urtuu(...job)).toMatchObject({ code: 0 });
    expect((await urtuu(...job)).code).toBe(11);
    expect((await urtuu('jobs', 'list', '--json')).stdout).toContain('july');
    expect(existsSync(join(state, 'urtuu/jobs'))).toBe(true);

    // Node.js of the image has SQLite.
    const modules = inside('usr/local/lib/node_modules');
    // Others may not read the folder of the sources.
    for (const name of ['@photostructure', 'node-gyp-build'])
      cpSync(join(root, 'node_modules', name), join(modules, name), { recursive: true });
    const [, check = ''] = /CMD (\[.*\])/.exec(settingOf('HEALTHCHECK') ?? '') ?? [];
    const [node, flag, source = ''] = JSON.parse(check) as string[];
    expect([node, flag]).toEqual(['node', '-e']);
    const healthOf = async (command: string, script: string) => {
      const cmdline = machine.write('cmdline', command.replaceAll(' ', '\0'));
      const check = source.replace('/proc/1/cmdline', cmdline);
      const args = ['env', `CHECK=${check}`, 'sh', '-ec', `exec 2>&1; ${script}`];
      const { code, stdout } = await inContainer(...args);
      return code === 0 ? 'good' : `${code}: ${stdout}`;
    };
    const served = `
      urtuu serve --port 0 -o ndjson >"$XDG_STATE_HOME/line" &
      until [ -s "$XDG_STATE_HOME/line" ]; do kill -0 $! || exit 9; sleep 0.05; done
      port=$(sed 's,.*127.0.0.1:\\([0-9]*\\).*,\\1,' "$XDG_STATE_HOME/line")
      check=$(printf %s "$CHECK" | sed "s/7788/$port/")
      node -e "$check"
      kill $! && wait $! || :
      ! node -e "$check"`;
    expect(await healthOf('urtuu serve --host 0.0.0.0', served)).toBe('good');
    expect(await healthOf('urtuu sms bulk list.csv', 'node -e "$CHECK"')).toBe('good');
  },
  90_000,
);
