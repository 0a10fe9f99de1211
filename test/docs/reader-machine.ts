import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { workbook } from '../cli/bulk/input/workbook/write-workbook.js';
import { type Outcome, outcomeOf, root } from '../support/binary.js';

/** The address of the service in the pages. */
const standIn = 'https://api.example.com/v1';
/** The workbooks of a clinic. */
const appointments = {
  'week1.xlsx': [
    ['Үзлэгийн жагсаалт, 11 сарын 2-6'],
    ['Нэр', 'Утас', 'Өдөр'],
    ['Бат', '(976) 9911-2233', '11/03'],
    ['Цэцэг', '8811.2233', '11/03'],
    // The operator does not take this one.
    ['Болд', 99000001, '11/04'],
    ['Сараа', '9911223', '11/04'],
    ['Дорж', 12345678, '11/05'],
    ['Бат', 99112233, '11/03'],
    ['Оюун', 94112233, '11/06'],
  ],
  'week2.xlsx': [
    ['Үзлэгийн жагсаалт, 11 сарын 9-13'],
    ['Нэр', 'Утас', 'Өдөр'],
    ['Бат', 99112233, '11/10'],
    ['Сараа', 99112230, '11/11'],
    ['Тэмүүлэн', 95112233, '11/12'],
  ],
};
const list = 'name,phone\nБат,99112233\nЦэцэг,88112233\n';

/** A folder in which a reader types the lines of a page: `urtuu`, the files that the pages name, a service. */
export class ReaderMachine {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly #children = new Set<ChildProcess>();

  private constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'urtuu-machine-')));
    for (const name of ['bin', 'node_modules', 'home', 'urtuu', 'lib']) mkdirSync(join(this.folder, name));
    symlinkSync(root, join(this.folder, 'node_modules/urtuu'));
    this.script('urtuu', `exec '${process.execPath}' '${join(root, 'bin/urtuu.js')}' "$@"`);
    this.script('npx', 'shift; exec urtuu "$@"');
    copyFileSync(join(root, 'examples/customers.csv'), join(this.folder, 'customers.csv'));
    const customers = readFileSync(join(root, 'examples/customers.csv'), 'utf8').split('\n');
    this.write('debtors.csv', `${customers.slice(0, 21).join('\n')}\n`);
    for (const name of ['list', 'today']) this.write(`${name}.csv`, list);
    this.write('bad.csv', 'name,phone\nБат,9911223\nЦэцэг,88112233\nБолд,9.91E+07\n');
    const members = ['99112233,Бат,УБ', '88112233,Цэцэг,Дархан', '95112233,Дорж,уб', '94112233,Сүх,УБ'];
    this.write('members.csv', ['phone,name,city', ...members, '96112233,Нар,УБ', ''].join('\n'));
    this.write('stop.csv', '+976 9511-2233\n');
    this.write('dues.csv', 'phone,name,debt\n99112233,Бат,5000\n88112233,,\n');
    this.write(
      'list.xlsx',
      workbook({
        sheets: [
          {
            name: 'Sheet1',
            rows: [
              ['name', 'phone'],
              ['Бат', 99112233],
            ],
          },
        ],
      }),
    );
    for (const [name, rows] of Object.entries(appointments))
      this.write(name, workbook({ sheets: [{ name: 'Жагсаалт', rows }] }));
    this.write('text.txt', 'Сайн уу {name}');
    this.write('urtuu/service.json', '{ "sms": "simulated", "email": "simulated" }');
    this.write('report.html', '<p>Тайлан</p>');
    this.write('urtuu.key', `${sandbox.key}\n`);
    chmodSync(join(this.folder, 'urtuu.key'), 0o600);
  }

  static async open(): Promise<ReaderMachine> {
    // A reader is slower than the caps of one number.
    const settings = { caps: { per_10_minutes: 20, per_24_hours: 80 } };
    return new ReaderMachine(await startSandbox({ settings }));
  }

  write(name: string, content: string | Uint8Array): string {
    const file = join(this.folder, name);
    writeFileSync(file, content);
    return file;
  }

  /** Replaces the stand-ins for a service and for system folders with those of this machine. */
  localized(text: string): string {
    return text
      .replaceAll(standIn, this.sandbox.url)
      .replaceAll(
        /(?<![\w.])\/(?:srv|etc|var\/lib)\//g,
        (path) => `${this.folder}${path.startsWith('/var') ? '/lib/' : '/'}`,
      );
  }

  /** What the pages take for given: the command, a home, and a key for a service. */
  get environment(): Record<string, string> {
    return {
      PATH: `${join(this.folder, 'bin')}:${process.env.PATH}`,
      HOME: join(this.folder, 'home'),
      URTUU_BASE_URL: this.sandbox.url,
      URTUU_API_KEY: this.sandbox.key,
    };
  }

  run(file: string, args: string[], env: Record<string, string> = this.environment): Promise<Outcome> {
    const child = spawn(file, args, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.add(child);
    return outcomeOf(child).finally(() => this.#children.delete(child));
  }

  /** The other way round, for what a command printed. */
  pretended(text: string): string {
    return text
      .replaceAll(this.sandbox.url, standIn)
      .replaceAll(`${this.folder}/home`, '~')
      .replaceAll(`${this.folder}/`, '');
  }

  bash(script: string, env?: Record<string, string>): Promise<Outcome> {
    return this.run('bash', ['-euo', 'pipefail', '-c', this.localized(script)], env);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    if (existsSync(join(this.folder, 'pid'))) await this.run('systemctl', ['stop', 'urtuu']);
    await this.sandbox.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A command in the folder that comes first on the path. */
  script(name: string, line: string): void {
    this.write(join('bin', name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(this.folder, 'bin', name), 0o755);
  }
}

/** A stand-in for systemd that runs the command of the unit, and for what needs root or the registry. */
export function installSystemd(machine: ReaderMachine): void {
  const { folder } = machine;
  mkdirSync(join(folder, 'systemd/system'), { recursive: true });
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'));
  for (const name of ['useradd', 'npm']) machine.script(name, 'exit 0');
  machine.script(
    'systemctl',
    `cd '${folder}'
stop() { [ ! -f pid ] || { kill "$(cat pid)"; while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.05; done; rm pid; }; }
case $1 in
stop) stop ;;
enable | start | restart)
  stop
  rm -f started
  line=$(sed -n 's,^ExecStart=/usr/local/bin/,,p' systemd/system/urtuu.service | sed 's,/var/lib,lib,')
  sh -c 'echo $$ >pid; exec '"$line"' --port 0 --drain-time 0 -o ndjson' >started 2>log </dev/null &
  until [ -s started ]; do kill -0 $! || exit 1; sleep 0.05; done ;;
esac`,
  );
}
