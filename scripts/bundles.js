import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { build } from 'esbuild';

/** The command line reaches the service through one lazy door; its bundle stays out of every other. */
const serviceDoor = {
  name: 'service-door',
  setup(build) {
    build.onResolve({ filter: /\/service\/index\.js$/ }, () => ({
      path: '../service/index.cjs',
      external: true,
    }));
  },
};

/** Its spawning of executable subcommands is not used, and would load half of Node.js at each start. */
const commanderSpawnsNothing = {
  name: 'commander-spawns-nothing',
  setup(build) {
    build.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      /[/\\]node_modules[/\\]commander[/\\]/.test(importer)
        ? { path: 'nothing', namespace: 'nothing' }
        : null,
    );
    build.onLoad({ filter: /^/, namespace: 'nothing' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** Of package.json the bundles need the version alone. */
const onlyTheVersion = {
  name: 'only-the-version',
  setup(build) {
    build.onLoad({ filter: /[/\\]package\.json$/ }, ({ path, with: { type } }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8'));
      return type === 'json' ? { contents: JSON.stringify({ version }), loader: 'json' } : null;
    });
  },
};

/** Writes `dist/<name>.cjs`; gives its code and the files it was made of. */
export async function bundle(name, source, constants = {}) {
  const { outputFiles, metafile } = await build({
    entryPoints: { [name]: source },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // All code is in the bundles: an import() is a require that waits.
    supported: { 'dynamic-import': false },
    // Names stay, for stack traces that can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
    define: Object.fromEntries(Object.entries(constants).map(([key, value]) => [key, JSON.stringify(value)])),
    external: ['@photostructure/sqlite'],
    plugins: [serviceDoor, commanderSpawnsNothing, onlyTheVersion],
  });
  const [{ path, text }] = outputFiles;
  const [output] = Object.values(metafile.outputs);
  const inputs = Object.keys(output.inputs).filter((input) => output.inputs[input].bytesInOutput > 0);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return { code: text, inputs };
}
