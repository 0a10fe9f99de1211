import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the licence texts of all packages that the bundles hold; a package without one stops the build. */
export function writeLicences(inputs) {
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== null));
  const packages = [...folders].map(packageIn);
  const chapters = new Map(packages.map((each) => [each.title, each.text ?? textOfSibling(each, packages)]));
  const body = [...chapters]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([title, text]) => `${'='.repeat(80)}\n${title}\n\n${text}\n`);
  const head = 'urtuu contains code of these packages, under the licences below.\n';
  writeFileSync('THIRD-PARTY-LICENSES.txt', [head, ...body].join('\n'));
}

function packageFolder(input) {
  return /^(?:.*[/\\])?node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+(?=[/\\])/.exec(input)?.[0] ?? null;
}

function packageIn(folder) {
  const { name, version, license, repository } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)\b/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (texts.length === 0) texts.push(...licenceIn(join(folder, 'README.md')), ...keptFor(name));
  return {
    title: `${name} ${version} (${license})`,
    license,
    repository: repository?.url ?? repository,
    text: texts.length === 0 ? null : texts.join('\n\n'),
  };
}

/** Some have their licence at the end of the readme. */
function licenceIn(readme) {
  const text = existsSync(readme) ? readFileSync(readme, 'utf8') : '';
  const [, licence = ''] = /^#+ *licen[cs]e\s*\n([\s\S]*)/im.exec(text) ?? [];
  return /permission is hereby granted/i.test(licence) ? [licence.trim()] : [];
}

/** The text of the repository, of a package that ships none. */
function keptFor(name) {
  const file = join(import.meta.dirname, 'licences', `${name}.txt`);
  return existsSync(file) ? [readFileSync(file, 'utf8').trim()] : [];
}

/** Packages of one repository may leave the text to one of them. */
function textOfSibling({ title, license, repository }, packages) {
  const sibling = packages.find(
    (other) => other.text !== null && other.repository === repository && other.license === license,
  );
  if (license === undefined || repository === undefined || sibling === undefined) {
    throw new Error(`${title} brings no licence`);
  }
  return sibling.text;
}
