import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { testedElsewhere } from './not-run.js';
import { blocksOf, pages } from './pages.js';
import { ReaderMachine } from './reader-machine.js';

const programs = pages
  .filter((page) => !(page in testedElsewhere))
  .flatMap(blocksOf)
  .filter(({ language }) => language === 'js' || language === 'ts');

it('the programs of the pages pass the type checker, with the types of the package', async () => {
  expect(programs.length).toBeGreaterThan(1);
  await using machine = await ReaderMachine.open();
  const files = programs.map(({ page, line, language, code }) => {
    const name = `${page.replaceAll(/\W/g, '-')}-${line}.m${language}`;
    machine.write(name, code);
    return name;
  });
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    // What a test file sets up in `before` has no type of its own.
    noImplicitAny: false,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(join(machine.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const checked = await promisify(execFile)(process.execPath, [compiler, '-p', machine.folder]).catch(
    (error: { stdout: string }) => error,
  );
  expect(checked.stdout).toBe('');
});
