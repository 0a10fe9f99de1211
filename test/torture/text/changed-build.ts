import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../support/binary.js';

/** The command line with a sanitiser that lets everything through; gives the file it was built to. */
export const buildWithoutSanitiser = (): Promise<string> =>
  buildChanged('without-sanitiser', /[/\\]terminal[/\\]sanitise\.ts$/, (source) =>
    source.replace(/const unsafe = [^;]+;/, 'const unsafe = () => /(?!)/g;'),
  );

/** The command line whose questions do not notice that the input has ended. */
export const buildDeafToTheEnd = (): Promise<string> =>
  buildChanged('deaf-to-the-end', /[/\\]terminal[/\\]inquirer\.ts$/, (source) =>
    source.replace('ended.abort()', '{}'),
  );

/** How a built command line is called; the rest of the words are its own. */
export const called = (file: string): string[] => [
  '-e',
  `require(${JSON.stringify(file)}).start(process, { homeOfUser: os.homedir, isTerminal: tty.isatty })`,
  '--',
  'urtuu',
];

async function buildChanged(
  name: string,
  filter: RegExp,
  change: (source: string) => string,
): Promise<string> {
  const outfile = join(root, `node_modules/.cache/urtuu/torture/${name}.cjs`);
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
        name,
        setup: ({ onLoad }) =>
          onLoad({ filter }, ({ path }) => {
            const source = readFileSync(path, 'utf8');
            const contents = change(source);
            if (contents === source) throw new Error(`${path} has another form`);
            return { contents, loader: 'ts' };
          }),
      },
    ],
  });
  return outfile;
}
