import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the licence texts of all packages that the bundles hold, each text once, below the copyright notices of its
 * packages; a package without one stops the build.
 */
export function writeLicences(inputs) {
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== null));
  const packages = [...folders].map(packageIn);
  const texts = new Map(packages.map((each) => [each.title, each.text ?? textOfSibling(each, packages)]));
  const chapters = new Map();
  for (const [title, text] of [...texts].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const { notices, licence } = partsOf(text);
    const chapter = chapters.get(wordsOf(licence)) ?? { heads: [], licence };
    chapter.heads.push([title, ...notices].join('\n'));
    chapters.set(wordsOf(licence), chapter);
  }
  const body = [...chapters.values()].map(({ heads, licence }) => [rule, ...heads, licence].join('\n\n'));
  const head = 'urtuu contains code of these packages, under the licences below them.';
  writeFileSync('THIRD-PARTY-LICENSES.txt', `${[head, ...body].join('\n\n')}\n`);
}

const rule = '='.repeat(80);

/** The lines above a licence that name the holders of the copyright, and the licence, without the name of MIT's. */
function partsOf(text) {
  const begin = Math.max(0, text.search(/^\s*permission\b/im));
  const head = text.slice(0, begin).split(/\r?\n/);
  const isNotice = (line) => /^\s*(?:copyright\b|\(c\))/i.test(line);
  const isName = (line) => /^\s*\(?(?:the )?MIT license\)?(?: \(MIT\))?\s*$/i.test(line);
  const others = head.filter((line) => !isNotice(line) && !isName(line));
  return {
    notices: head.filter(isNotice).map((line) => line.trim()),
    licence: [...others, text.slice(begin)].join('\n').trim(),
  };
}

/** Writers break lines and quote differently. */
const wordsOf = (licence) =>
  licence
    .toLowerCase()
    .replace(/[“”"']+/g, '"')
    .replace(/\s+/g, ' ');

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
