import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../support/binary.js';

/** The command line with a sanitiser that lets everything through; gives the file it was built to. */
export async function buildWithoutSanitiser(): Promise<string> {
  const outfile = join(root, 'node_modules/.cache/urtuu/torture/without-sanitiser.cjs');
  await build({
    entryPoints: [join(root, 'src/cli/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'error',
    external: ['@photostructure/sqlite'],
    plugins: [
      {
        name: 'without-sanitiser',
        setup: ({ onLoad }) =>
          onLoad({ filter: /[/\\]terminal[/\\]sanitise\.ts$/ }, ({ path }) => {
            const source = readFileSync(path, 'utf8');
            const contents = source.replace(/const unsafe = [^;]+;/, 'const unsafe = () => /(?!)/g;');
            if (contents === source) throw new Error('the sanitiser has another form');
            return { contents, loader: 'ts' };
          }),
      },
    ],
  });
  return outfile;
}
