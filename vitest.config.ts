import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { mailDecoder } from './scripts/mail-decoder.js';

/** Where each test file plays: in the first project that lists it. */
const places = {
  /** With programs of others from Debian's packages on the other side. */
  peers: ['test/peers/**'],
  /** What kills, cuts and confuses, large inputs, and processes that wait for seconds. */
  torture: [
    'test/e2e/{bulk-cancel,bulk-proof,do-not-send,events,quiet-hours,serve-config,serve-email,serve-sandbox-key}.test.ts',
    'test/e2e/{dashboard,service-backup,service-move}.test.ts',
    'test/service/two-databases.test.ts',
    'test/cli/rate-limit/processes.test.ts',
    'test/cli/commands/serve/warnings.test.ts',
    'test/service/data/{as-owner,verify-data}.test.ts',
    'test/service/storage/installation.test.ts',
    'test/corpus/**',
    'test/patterns.test.ts',
    'test/torture/!(small).test.ts',
    'test/cli/{hostile,masked}.test.ts',
    'test/cli/bulk/plan/memory.test.ts',
  ],
  browser: ['test/service/dashboard/browser.test.ts'],
  /** Pages typed as written, the package, and terminals. */
  pages: ['test/{docs,package,terminal}/**', 'test/cli/cache/{code-cache,built-pages}.test.ts'],
  /** On PostgreSQL what `npm test` plays on SQLite alone. */
  'second-engine': [
    'test/service/admin/failover.test.ts',
    'test/service/storage/postgres-{plans,roles,schemas}.test.ts',
  ],
  /** The rules and the store on PostgreSQL, and what this engine alone has. */
  postgres: [
    'test/service/carriers/postgres-outbox.test.ts',
    'test/service/storage/{differential,postgres{,-credit,-interleavings,-paused,-roles,-schemas,-upgrade}}.test.ts',
    'test/support/postgres.test.ts',
  ],
  /** What waits for processes more than it computes. */
  real: [
    'examples/*.vitest.test.js',
    'test/e2e/**',
    'test/cli/{every-command,printed-commands,sandbox}.test.ts',
    'test/cli/commands/bulk/old-jobs.test.ts',
    'test/cli/commands/bulk/prepare/{sent-before,take}.test.ts',
    'test/cli/commands/serve/database.test.ts',
    'test/cli/platform/lock.test.ts',
    'test/cli/terminal/descriptor.test.ts',
    'test/service/carriers/{smpp,smtp}/service.test.ts',
    'test/service/dispatch/crash.test.ts',
    'test/service/postgres-*.test.ts',
    'test/service/storage/{locks,postgres-faults}.test.ts',
    'test/torture/small.test.ts',
  ],
  /** In this process, on SQLite. */
  fast: ['test/**'],
};
type Place = keyof typeof places;

/** What plays once more, on the other engine or with all of its cases. */
const again: Partial<Record<Place, string[]>> = {
  torture: ['test/torture/small.test.ts', 'test/service/data/move-data.test.ts'],
  postgres: ['test/rules/**', 'test/service/dispatch/{crash,pause}.test.ts'],
  'second-engine': [
    'test/service/admin/reset.test.ts',
    'test/service/carriers/http/{instances,repeats}.test.ts',
    'test/service/carriers/smpp/{instances,lanes,slow-lanes,turns}.test.ts',
    'test/service/carriers/smtp/day.test.ts',
    'test/service/dashboard/{access,pages}.test.ts',
    'test/service/inbox/inbox.test.ts',
    'test/service/operations/{caps,idempotency,keys,rate,verification}.test.ts',
    'test/service/storage/{differential,postgres}.test.ts',
  ],
};

/** `npm test`, and what `--mode` chooses. */
const inEveryRun: Place[] = ['fast', 'postgres', 'real'];
const modes: Record<string, Place[]> = {
  all: ['torture', 'browser', 'pages', 'second-engine'],
  fast: ['fast'],
  peers: ['peers'],
};

/** Modules load once a worker where files share it: helpers register no hooks of their own, but call onTestFinished. */
const settings: Partial<Record<Place, TestProjectInlineConfiguration['test']>> = {
  fast: { isolate: false },
  postgres: { isolate: false, env: { URTUU_TEST_ENGINE: 'postgres' } },
  'second-engine': { isolate: false, env: { URTUU_TEST_ENGINE: 'postgres' } },
  real: { maxWorkers: 4 },
};

/** Vite does not know imports `with { type: 'text' }`. */
const plugins = [
  {
    name: 'sql-as-text',
    transform: (code: string, id: string) =>
      id.endsWith('.sql') ? `export default ${JSON.stringify(code)};` : null,
  },
  mailDecoder,
];

const common = {
  maxWorkers: '100%',
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // Only what is inlined is transformed.
  server: { deps: { inline: ['postal-mime'] } },
};

function project(name: Place, order: number): TestProjectInlineConfiguration {
  const names = Object.keys(places) as Place[];
  const listedBefore = names.slice(0, names.indexOf(name)).flatMap((other) => places[other]);
  return {
    plugins,
    test: {
      ...common,
      name,
      include: [...places[name], ...(again[name] ?? [])].map(tests),
      exclude: [...configDefaults.exclude, ...listedBefore],
      sequence: { groupOrder: order },
      ...settings[name],
    },
  };
}

export default defineConfig(({ mode }) => ({
  test: {
    projects:
      mode === 'nodes'
        ? [{ plugins, test: { ...common, name: 'nodes', include: ['test/**/*.test.ts'] } }]
        : (modes[mode] ?? inEveryRun).map(project),
    experimental: { fsModuleCache: true },
    env: mode === 'all' ? { URTUU_TEST_ALL: '1' } : {},
    globalSetup: ['fast-folders', 'own-home', 'postgres-cluster'].map((name) => `test/support/${name}.ts`),
    reporters: process.env.CI
      ? ['default', ['json', { outputFile: `test-results-${mode}.json` }]]
      : ['default'],
  },
}));

function tests(pattern: string): string {
  return pattern.endsWith('/**') ? `${pattern}/*.test.ts` : pattern;
}
