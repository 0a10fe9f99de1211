// Builds what is published: the client as ESM and CommonJS, the command line and the service as bundles.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build } from 'esbuild';

const bundle = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  legalComments: 'none',
  logLevel: 'warning',
  external: ['@photostructure/sqlite'],
};

// The command line reaches the service through one lazy door; its bundle stays out of the command line's.
const serviceDoor = {
  name: 'service-door',
  setup(build) {
    build.onResolve({ filter: /\/service\/index\.js$/ }, () => ({
      path: '../service/index.cjs',
      external: true,
    }));
  },
};

rmSync('dist', { recursive: true, force: true });
await Promise.all(
  [
    { entryPoints: { 'client/index': 'src/client/index.ts' } },
    { entryPoints: { 'service/index': 'src/service/index.ts' } },
    { entryPoints: { 'sandbox/index': 'src/sandbox/index.ts' }, plugins: [serviceDoor] },
    { entryPoints: { 'cli/main': 'src/cli/main.ts' }, plugins: [serviceDoor] },
  ]
    .filter(({ entryPoints }) => existsSync(Object.values(entryPoints)[0]))
    .map((entry) => build({ ...bundle, ...entry, outdir: 'dist', outExtension: { '.js': '.cjs' } })),
);

// One implementation for both module systems: the ESM entry hands out what the CommonJS one defines.
for (const room of ['client', 'sandbox']) {
  const names = Object.keys(createRequire(import.meta.url)(`../dist/${room}/index.cjs`));
  writeFileSync(
    `dist/${room}/index.js`,
    `import room from './index.cjs';\nexport const { ${names.join(', ')} } = room;\n`,
  );
}
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
