import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The ESM entry beside a CommonJS one: it hands on what that defines, so that there is one of each class. */
export function writeEntry(name) {
  const file = `${name.split('/').at(-1)}.cjs`;
  const names = Object.keys(createRequire(import.meta.url)(`../dist/${name}.cjs`));
  writeFileSync(join('dist', `${name}.js`), `export { ${names.join(', ')} } from './${file}';\n`);
}
