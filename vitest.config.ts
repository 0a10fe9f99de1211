import { configDefaults, defineConfig } from 'vitest/config';

/** What plays with real processes, terminals, packages and data sets; `vitest --mode fast` leaves it out. */
const slow = [
  'test/{corpus,docs,e2e,package,terminal,torture}/**',
  'test/cli/{code-cache,every-command,hostile,printed-commands,sandbox}.test.ts',
  'test/cli/bulk/plan/memory.test.ts',
  'test/cli/commands/bulk/{old-jobs,reported-rows,sent-before}.test.ts',
  'test/cli/platform/lock.test.ts',
  'test/cli/rate-limit/processes.test.ts',
  'test/cli/terminal/descriptor.test.ts',
  'test/service/carriers/smpp/{chaos,service}.test.ts',
  'test/service/carriers/smtp/{chaos,service}.test.ts',
  'test/service/dashboard/browser.test.ts',
  'test/service/dispatch/crash.test.ts',
  'test/service/storage/installation.test.ts',
  'test/**/postgres*.test.ts',
  'test/cli/commands/serve/database.test.ts',
];

/** Programs of others from Debian's packages, on the other side: `npm run test:peers`. */
const peers = 'test/peers/**/*.test.ts';

export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'peers' ? [peers] : ['test/**/*.test.ts', 'examples/*.vitest.test.js'],
    exclude: [
      ...configDefaults.exclude,
      ...(mode === 'peers' ? [] : [peers]),
      ...(mode === 'fast' ? [...slow, 'examples/**'] : []),
    ],
    globalSetup: ['real-home', 'fast-folders', 'postgres-cluster'].map((name) => `test/support/${name}.ts`),
    maxWorkers: '100%',
    // Then modules load once a worker: helpers register no hooks of their own, but call onTestFinished.
    isolate: mode !== 'fast',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results.json' }]] : ['default'],
  },
}));
