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
          onLoad({ filter: /[/\\]terminal[/\\]sanitise\.ts$/ }, ({ path }) => ({
            contents: withoutRule(readFileSync(path, 'utf8')),
            loader: 'ts',
          })),
      },
    ],
  });
  return outfile;
}

/** The same module, whose rule of what is unsafe finds nothing. */
function withoutRule(source: string): string {
  const changed = source.replace(/const unsafe = \(\) =>[^;]*;/, 'const unsafe = () => /(?!)/gu;');
  if (changed === source) throw new Error('the sanitiser has no rule to leave out');
  return changed;
}
