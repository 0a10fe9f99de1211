import { configDefaults, defineConfig } from 'vitest/config';

/** What plays with real processes, terminals, packages and data sets; `vitest --mode fast` leaves it out. */
const slow = [
  'test/{corpus,docs,e2e,package,terminal,torture}/**',
  'test/cli/{code-cache,every-command,hostile,masked,printed-commands,sandbox}.test.ts',
  'test/cli/bulk/plan/memory.test.ts',
  'test/cli/commands/bulk/old-jobs.test.ts',
  'test/cli/commands/bulk/prepare/{reported-rows,sent-before}.test.ts',
  'test/cli/platform/lock.test.ts',
  'test/cli/rate-limit/processes.test.ts',
  'test/cli/terminal/descriptor.test.ts',
  'test/service/carriers/smpp/service.test.ts',
  'test/service/carriers/smtp/service.test.ts',
  'test/service/admin/failover.test.ts',
  'test/service/dashboard/browser.test.ts',
  'test/service/dispatch/crash.test.ts',
  'test/service/storage/installation.test.ts',
  'test/**/postgres*.test.ts',
  'test/cli/commands/serve/database.test.ts',
];

/** Programs of others from Debian's packages, on the other side: `npm run test:peers`. */
const peers = 'test/peers/**/*.test.ts';
/** The installed package as a service, on every Node.js: `npm run test:nodes`. */
const nodes = 'test/package/service.test.ts';

/** Vite does not know imports `with { type: 'text' }`. */
const plugins = [
  {
    name: 'sql-as-text',
    transform: (code: string, id: string) =>
      id.endsWith('.sql') ? `export default ${JSON.stringify(code)};` : null,
  },
];

const common = { maxWorkers: '100%', testTimeout: 30_000, hookTimeout: 30_000 };

/** Modules load once a worker: helpers register no hooks of their own, but call onTestFinished. */
const together = {
  ...common,
  name: 'together',
  include: ['test/**/*.test.ts'],
  exclude: [...configDefaults.exclude, ...slow, peers],
  isolate: false,
};

/** In the order of their names: the long ones first, so that the short ones fill the end. */
const alone = { ...common, name: 'alone', include: [...slow.map(tests), 'examples/*.vitest.test.js'] };

export default defineConfig(({ mode }) => ({
  test: {
    projects: {
      fast: [{ plugins, test: together }],
      peers: [{ plugins, test: { ...common, name: 'peers', include: [peers] } }],
      nodes: [{ plugins, test: { ...common, name: 'nodes', include: ['test/**/*.test.ts'] } }],
    }[mode] ?? [
      { plugins, test: { ...alone, exclude: [...configDefaults.exclude, peers, nodes] } },
      { plugins, test: together },
    ],
    globalSetup: ['real-home', 'fast-folders', 'postgres-cluster'].map((name) => `test/support/${name}.ts`),
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results.json' }]] : ['default'],
  },
}));

function tests(pattern: string): string {
  return pattern.endsWith('/**') ? `${pattern}/*.test.ts` : pattern;
}
