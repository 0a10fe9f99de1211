import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

const relativeImport = /(?<=\b(?:from|import\()\s*['"])(\.[^'"]*)\.js(?=['"])/g;
const packageImport = /\b(?:from\s+|import\(\s*)['"](?!\.|node:)([^'"]+)['"]/;

/**
 * One implementation has one set of types: CommonJS ones, as the code is, with an ESM entry that hands them on.
 * A class of two sets would be two classes to TypeScript.
 */
export function writeDeclarations(entries) {
  const folder = mkdtempSync(join('dist', '.types-'));
  try {
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin/tsc',
    );
    const options = ['-p', 'tsconfig.build.json', '--outDir', folder];
    execFileSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
    const written = new Set();
    for (const name of entries) {
      copy(join(folder, 'src', name), join(folder, 'src'), written);
      writeFileSync(join('dist', `${name}.d.ts`), `export * from './${name.split('/').at(-1)}.cjs';\n`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Copies a declaration file, without its ending here, and all it reaches. */
function copy(file, folder, written) {
  if (written.has(file)) return;
  written.add(file);
  const text = withoutBarrels(readFileSync(`${file}.d.ts`, 'utf8'), file);
  const [, foreign] = packageImport.exec(text) ?? [];
  if (foreign !== undefined) throw new Error(`the types of ${relative(folder, file)} need ${foreign}`);
  const target = join('dist', `${relative(folder, file)}.d.cts`);
  mkdirSync(dirname(target), { recursive: true });
  // TypeScript 4 does not know `export type *`, and a declaration exports types in either way.
  writeFileSync(target, text.replace(relativeImport, '$1.cjs').replace(/^export type \*/gm, 'export *'));
  for (const [, specifier] of text.matchAll(relativeImport))
    copy(join(dirname(file), specifier), folder, written);
}

const namedImport = /^((?:import|export)(?: type)?) \{([^}]*)\} from '(\.[^']*)\/index\.js';$/gm;

/** Names the module of each import from a barrel, which would reach all of its modules. */
function withoutBarrels(text, file) {
  return text.replace(namedImport, (written, verb, names, folder) => {
    const moduleOf = modulesOf(join(dirname(file), folder));
    if (moduleOf === null) return written;
    const byModule = new Map();
    for (const name of listed(names)) {
      const module = moduleOf.get(name.replace(/^type /, '').split(' ')[0]);
      byModule.set(module, [...(byModule.get(module) ?? []), name]);
    }
    return [...byModule]
      .map(([module, each]) => `${verb} { ${each.join(', ')} } from '${folder}/${module}.js';`)
      .join('\n');
  });
}

/** The module of each name that a folder's index hands on; null for an index that has more. */
function modulesOf(folder) {
  const handed = /^export (?:\*|(?:type )?\{([^}]*)\}) from '\.\/([^']+)\.js';$/gm;
  const text = readFileSync(join(folder, 'index.d.ts'), 'utf8');
  if (text.replace(handed, '').trim() !== '') return null;
  return new Map(
    [...text.matchAll(handed)].flatMap(([, names, module]) =>
      (names === undefined ? declaredIn(join(folder, `${module}.d.ts`)) : listed(names)).map((name) => [
        name.replace(/^type /, ''),
        module,
      ]),
    ),
  );
}

function declaredIn(file) {
  const declared = /^export (?:declare )?(?:type|interface|const|function|class) (\w+)/gm;
  return [...readFileSync(file, 'utf8').matchAll(declared)].map(([, name]) => name);
}

const listed = (names) =>
  names
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
