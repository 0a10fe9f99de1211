import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const source = resolve(import.meta.dirname, '../src');

/** The version: --version prints it, the client names it in the User-Agent header, and an instance in its heartbeat. */
const manifest = '../package.json';

/** What a room may import: other rooms, and whether packages. Nothing points back. */
const arrows: Record<string, { rooms: string[]; packages: boolean }> = {
  contract: { rooms: ['contract'], packages: false },
  // Addresses, proxies and encodings, for the command line and the carriers alike.
  network: { rooms: ['network', 'contract'], packages: false },
  client: { rooms: ['client', 'contract', manifest], packages: false },
  cli: { rooms: ['cli', 'client', 'contract', 'network', 'service/index', manifest], packages: true },
  sandbox: { rooms: ['sandbox', 'contract', 'service/index'], packages: false },
  service: { rooms: ['service', 'contract', 'network', manifest], packages: true },
};
/** Files at the top of the service that every part of it may import; they import each other only. */
const ground = [
  'as-owner',
  'clock',
  'encryption',
  'errors',
  'event-loop',
  'mailbox',
  'quiet',
  'random',
  'report',
  'settings',
  'timestamp',
];
/**
 * Every arrow between the parts of the service, beside those to the ground: a part is a folder (of storage and carriers
 * each engine and carrier) or a file at the top.
 */
const serviceArrows: Record<string, string[]> = {
  index: [
    'admin',
    'administration',
    'carriers/configured',
    'configuration',
    'create-service',
    'data',
    'fault-injection',
    'inbox',
    'open-administration',
    'service',
  ],
  // It warns of a database whose connections are not encrypted.
  configuration: ['carriers/configured', 'storage/postgres'],
  'open-administration': ['administration', 'core', 'service'],
  // It gives the dashboard the tokens of requests.
  'create-service': [
    'core',
    'dashboard',
    'fault-injection',
    'http',
    'observer',
    'operations',
    'readiness',
    'service',
  ],
  // What a service shows of itself: its requests, and its parts, measured by wrappers.
  observer: ['core', 'http', 'metrics', 'service'],
  metrics: ['carriers', 'service', 'storage'],
  core: [
    'admin',
    'administration',
    'carriers',
    'carriers/configured',
    'carriers/simulated',
    'dispatch',
    'heartbeat',
    'data',
    'inbox',
    'operations',
    'service',
    'storage',
  ],
  // An engine, and the outbox of the simulated carrier in it: opened, copied and verified together.
  data: ['carriers/simulated', 'service', 'storage', 'storage/checks', 'storage/postgres', 'storage/sqlite'],
  // The file that configures the carriers is an option.
  service: ['administration', 'carriers/configured'],
  administration: ['inbox', 'storage'],
  // Caps are counted in storage.
  settings: ['storage'],
  'parse-fields': [],
  // It has the paths that carriers call.
  http: ['carriers', 'fault-injection', 'operations', 'parse-fields', 'readiness', 'service'],
  // A page shows more of a record than the API gives, and what the simulated carrier delivered.
  dashboard: [
    'admin',
    'administration',
    'carriers',
    'carriers/simulated',
    'inbox',
    'operations',
    'service',
    'storage',
  ],
  // A reset stops the dispatcher and empties the simulated carrier, whose outbox the owner reads.
  // The records of a domain hold the key that its mail is signed with.
  admin: [
    'administration',
    'carriers',
    'carriers/simulated',
    'carriers/smtp',
    'dispatch',
    'heartbeat',
    'inbox',
    'operations',
    'parse-fields',
    'storage',
  ],
  // A bounce is a receipt of the mail carrier; each route names its inbox.
  inbox: ['carriers', 'carriers/configured', 'carriers/smtp', 'operations', 'storage'],
  // What an instance tells the others: how its carriers are connected, and what it finalized.
  heartbeat: ['carriers', 'storage'],
  readiness: ['heartbeat', 'storage'],
  operations: ['dispatch', 'storage'],
  dispatch: ['carriers', 'storage'],
  // A receipt is stored as the carrier gives it.
  carriers: ['storage'],
  // The one place that knows every carrier.
  'carriers/configured': [
    'carriers',
    'carriers/http',
    'carriers/simulated',
    'carriers/smpp',
    'carriers/smtp',
    'parse-fields',
    'storage',
  ],
  // The permits of a route's rate.
  'carriers/rate': ['storage'],
  'carriers/http': ['carriers', 'carriers/rate', 'storage'],
  'carriers/smpp': ['carriers', 'carriers/rate', 'storage'],
  'carriers/smtp': ['carriers', 'carriers/rate', 'storage'],
  'carriers/simulated': [
    'carriers',
    'fault-injection',
    'storage',
    'storage/postgres',
    'storage/sql',
    'storage/sqlite',
  ],
  storage: [],
  // What is to hold on every engine, and how one looks for what does not.
  'storage/checks': [],
  // What both engines do alike.
  'storage/shared': ['storage'],
  // The parts of the store that are written once, for any engine.
  'storage/sql': ['storage', 'storage/shared'],
  'storage/postgres': ['storage', 'storage/checks', 'storage/shared', 'storage/sql'],
  'storage/sqlite': ['storage', 'storage/checks', 'storage/shared', 'storage/sql'],
  'fault-injection': [],
};

/** Files of the command line that everything in it may import; they import nothing but each other. */
const cliLeaves = ['errors', 'exit-codes', 'once', 'text', 'time'];
/** What each folder, and each file beside them, may import of the command line. */
const cliArrows: Record<string, string[]> = {
  start: ['main', 'cache', 'terminal'],
  cache: ['platform'],
  main: ['application', 'create-context', 'exit', 'platform', 'process-environment', 'terminal'],
  application: [
    'help',
    'create-context',
    'exit',
    'interruption',
    'options',
    'process-environment',
    'program',
    'report-error',
    // Its callers write options that look like those of every command.
    'sendmail',
  ],
  interruption: ['create-context', 'network', 'platform', 'process-environment'],
  // An error prints the command that repeats a send in doubt.
  'report-error': ['help', 'create-context', 'exit', 'output', 'printed-error', 'single', 'usage-error'],
  // The hint of an unknown global option names the topic that lists them.
  'usage-error': ['help', 'options'],
  program: ['command', 'help', 'commands', 'context', 'input', 'options'],
  command: ['help', 'context', 'options'],
  help: ['exit', 'output'],
  exit: ['platform', 'sendmail'],
  context: ['config', 'io', 'network', 'options'],
  'create-context': [
    'config',
    'context',
    'files',
    'io',
    'network',
    'options',
    'output',
    'platform',
    'process-environment',
    'terminal',
  ],
  // A command to copy has a type of its own: nothing else is printed as one.
  io: ['config', 'files', 'output', 'terminal'],
  'process-environment': ['platform', 'terminal'],
  options: ['input', 'output'],
  'printed-error': ['error-hints', 'network'],
  'error-hints': [],

  commands: [
    'bulk/input',
    'bulk/plan',
    'bulk/job',
    'bulk/send',
    'bulk/results',
    'command',
    'help',
    'completion',
    'config',
    'context',
    'doctor',
    'history',
    'input',
    'lookup',
    'network',
    'options',
    'output',
    'platform',
    'reader',
    'sendmail',
    'single',
    'terminal',
    'topics',
    'xlsx',
  ],
  'bulk/input': ['xlsx'],
  'bulk/plan': ['bulk/input', 'platform', 'xlsx'],
  'bulk/job': ['bulk/plan', 'platform'],
  'bulk/send': ['bulk/job', 'bulk/plan', 'rate-limit', 'reader'],
  'bulk/results': ['bulk/input', 'bulk/job', 'bulk/plan', 'bulk/send', 'rate-limit', 'reader'],
  completion: ['help', 'config', 'options', 'history', 'topics'],
  config: ['files', 'options', 'platform', 'process-environment'],
  doctor: ['config', 'files', 'network', 'platform', 'printed-error'],
  files: ['platform', 'terminal'],
  history: ['config', 'io', 'platform'],
  // Ids can stand in a column of a CSV file.
  input: ['bulk/input', 'files', 'io'],
  lookup: ['context', 'error-hints', 'input', 'options', 'output', 'reader'],
  network: ['config', 'files', 'options', 'process-environment', 'rate-limit'],
  output: ['terminal'],
  platform: [],
  'rate-limit': ['platform'],
  // What reads with retries, and lists page by page, for jobs and single look-ups alike.
  reader: ['rate-limit'],
  // Recipients are repaired, and shown, as those of lists.
  sendmail: ['bulk/input'],
  single: ['context', 'history', 'input', 'io', 'lookup', 'output', 'platform', 'printed-error', 'terminal'],
  terminal: [],
  topics: ['options'],
  // What workbooks are written with, and what reading them shares with that.
  xlsx: [],
};

/** `bulk/plan` of `cli/bulk/plan/layout`, `commands` of `cli/commands/sms/send`, `main` of `cli/main`. */
function cliPartOf(path: string): string {
  const [, first = '', second = ''] = path.replace(/\.ts$/, '').split('/');
  return first === 'bulk' ? `${first}/${second}` : first;
}

interface Import {
  file: string;
  target: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(/(?:\bfrom|\bimport\(|\brequire\(|^import)\s*'([^']+)'/gm);
  return [...found].map(([, target = '']) => ({
    file: relative(source, file),
    target: target.startsWith('.')
      ? relative(source, resolve(dirname(file), target)).replace(/\.js$/, '')
      : target,
  }));
}

const everyFile = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.(?:tsx?|sql)$/.test(name),
);
const files = everyFile.filter((name) => !name.endsWith('.sql'));
const imports = files.flatMap((name) => importsOf(join(source, name)));
const isBuiltin = (target: string) => target.startsWith('node:') || builtinModules.includes(target);
const isPackage = ({ target }: Import) =>
  target !== manifest && !isBuiltin(target) && !((target.split('/')[0] as string) in arrows);

/** The part of the service that a file belongs to. */
function partOf(path: string): string {
  const [, ...steps] = path.split('/');
  const depth = ['carriers', 'storage'].includes(steps[0] ?? '') && steps.length > 2 ? 2 : 1;
  return steps.slice(0, depth).join('/');
}

/** One circle for each import that closes one, as `a -> b -> a`. */
function circlesIn(targets: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) circles.push([...path.slice(start), file].join(' -> '));
    if (start >= 0 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return circles;
}

describe('imports', () => {
  it('finds some', () => expect(imports.length).toBeGreaterThan(5));

  it.each(Object.keys(arrows))('of %s go only where its arrows point', (room) => {
    const { rooms, packages } = arrows[room] as (typeof arrows)[string];
    const wrong = imports
      .filter(({ file }) => file.startsWith(`${room}/`))
      .filter((entry) =>
        isPackage(entry)
          ? !packages
          : !isBuiltin(entry.target) &&
            !rooms.some((to) => entry.target === to || entry.target.startsWith(`${to}/`)),
      );
    expect(wrong).toEqual([]);
  });

  it('between parts of the service are those that are listed, and each of them is followed', () => {
    const found = imports
      .filter(({ file, target }) => file.startsWith('service/') && target.startsWith('service/'))
      .map(({ file, target }) => [partOf(file.replace(/\.tsx?$/, '')), partOf(target)] as const);
    const wrong = found.filter(
      ([from, to]) => from !== to && !ground.includes(to) && !serviceArrows[from]?.includes(to),
    );
    expect(wrong.map((arrow) => arrow.join(' -> '))).toEqual([]);
    const followed = new Set(found.map((arrow) => arrow.join(' -> ')));
    const listed = Object.entries(serviceArrows).flatMap(([from, to]) =>
      to.map((one) => `${from} -> ${one}`),
    );
    expect(listed.filter((arrow) => !followed.has(arrow))).toEqual([]);
    const parts = new Set(found.flat().filter((part) => part in serviceArrows || !ground.includes(part)));
    expect([...parts].sort()).toEqual(Object.keys(serviceArrows).sort());
  });

  it.each(Object.keys(arrows))('of %s make no circle', (room) => {
    const targets = new Map<string, string[]>();
    for (const { file, target } of imports.filter(({ file }) => file.startsWith(`${room}/`))) {
      const from = file.replace(/\.tsx?$/, '');
      targets.set(from, [...(targets.get(from) ?? []), target]);
    }
    expect(circlesIn(targets)).toEqual([]);
  });

  it('of the command line go only where its arrows point', () => {
    const wrong = imports
      .filter(({ file, target }) => file.startsWith('cli/') && target.startsWith('cli/'))
      .map(({ file, target }) => ({ file, target, from: cliPartOf(file), to: cliPartOf(target) }))
      .filter(({ from, to }) => from !== to && !cliLeaves.includes(to) && !cliArrows[from]?.includes(to))
      .map(({ file, target }) => `${file} -> ${target}`);
    expect(wrong).toEqual([]);
  });

  it('of the command line have no arrow too many', () => {
    const taken = new Set(imports.map(({ file, target }) => `${cliPartOf(file)} -> ${cliPartOf(target)}`));
    const arrows = Object.entries(cliArrows).flatMap(([from, all]) => all.map((to) => `${from} -> ${to}`));
    expect(arrows.filter((arrow) => !taken.has(arrow))).toEqual([]);
  });

  it('of the command line reach the service at one lazy place, types aside', () => {
    const lazy = readdirSync(join(source, 'cli'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => {
        const text = readFileSync(join(source, 'cli', name), 'utf8').replace(/^import type [^;]*;/gm, '');
        return (
          [...text.matchAll(/^(.*)'([./]*\/service\/.*)'/gm)]
            // The commands have a folder of this name too.
            .filter(([, , to = '']) => join('cli', name, '..', to).startsWith('service/'))
            .map(([, before = '']) => `${name}: ${before.trim()}`)
        );
      });
    expect(lazy).toEqual([expect.stringMatching(/^network\/\S+: .*await import\($/)]);
  });

  it('come with no cast to a web Request or Response', () => {
    const cast = /\bas (?:unknown as )?(?:globalThis\.)?(?:Request|Response)\b/;
    expect(files.filter((name) => cast.test(readFileSync(join(source, name), 'utf8')))).toEqual([]);
  });

  it('bring PL/pgSQL from .sql files: none stands in a string', () => {
    const sql = /\bplpgsql\b|\bCREATE (?:OR REPLACE )?FUNCTION\b/i;
    const found = files.filter((name) => sql.test(readFileSync(join(source, name), 'utf8')));
    expect(found).toEqual([]);
    expect(everyFile.length).toBeGreaterThan(files.length);
  });

  it('of contract reach no Node module either', () => {
    expect(imports.filter(({ file, target }) => file.startsWith('contract/') && isBuiltin(target))).toEqual(
      [],
    );
  });
});

describe('a folder of the source', () => {
  it('has at most 20 files', () => {
    const counts = new Map<string, number>();
    for (const name of everyFile) counts.set(dirname(name), (counts.get(dirname(name)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 20)).toEqual([]);
  });

  it('has no file of under 15 lines that only passes on what another one exports', () => {
    const forwarding = files.filter((name) => {
      const lines = readFileSync(join(source, name), 'utf8').trim().split('\n');
      return lines.length < 15 && lines.every((line) => /^export (?:type )?(?:\*|\{.*\}) from /.test(line));
    });
    expect(forwarding).toEqual([]);
  });
});
