import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { transformSync } from 'esbuild';
import { rolldown } from 'rolldown';
import { fewLocales } from './libraries/few-locales.js';
import { htmlEntitiesInFewBytes } from './libraries/html-entities.js';
import { plainElements } from './libraries/plain-elements.js';
import { unreached } from './libraries/unreached.js';
import { mailDecoder } from './mail-decoder.js';

/** The command line reaches the service through one lazy door; its bundle stays out of every other. */
const serviceDoor = {
  name: 'service-door',
  resolveId: (id) =>
    /\/service\/index\.js$/.test(id) ? { id: '../service/index.cjs', external: 'relative' } : null,
};

/**
 * The client is one file, for programs and the command line, which uses more of it: the modules that are imported from
 * outside, by their paths.
 */
const clientFolder = resolve('src/client');
const clientModules = new Set(['error.ts', 'urtuu.ts'].map((name) => join(clientFolder, name)));
const clientDoor = {
  name: 'client-door',
  resolveId(id, importer = client) {
    if (id === client) return id;
    if (importer === client || !id.startsWith('.')) return null;
    const [folder, file] = [dirname(importer), resolve(dirname(importer), id.replace(/\.js$/, '.ts'))];
    const isInside = folder.startsWith(clientFolder) && basename(importer) !== 'index.ts';
    if (isInside || !file.startsWith(clientFolder + sep)) return null;
    if (basename(file) !== 'index.ts') clientModules.add(file);
    return { id: '../client/core.cjs', external: 'relative' };
  },
  load: (id) =>
    id === client
      ? [...clientModules].map((file) => `export * from ${JSON.stringify(file)};`).join('\n')
      : null,
};
export const client = '\0client';

/** Questions are coloured with a function that Node.js has only from 20.12 on; before that they are plain. */
const plainWhereNothingElse = {
  name: 'plain-where-nothing-else',
  resolveId: (id, importer) =>
    id === 'node:util' && /[/\\]node_modules[/\\]@inquirer[/\\]/.test(importer) ? '\0style-text' : null,
  load: (id) =>
    id === '\0style-text'
      ? `import util from 'node:util';
         export const { stripVTControlCharacters, styleText = (_, text) => text } = util;`
      : null,
};

/** The reader of mails is one file, for the command line and the service. */
const mailReader = {
  name: 'mail-reader',
  resolveId(id, importer) {
    if (id === mail) return id;
    return id === 'postal-mime' && importer !== mail
      ? { id: '../mail/postal-mime.cjs', external: 'relative' }
      : null;
  },
  load: (id) => (id === mail ? `export { default } from 'postal-mime';` : null),
};
export const mail = '\0mail';

/** Of package.json the bundles need the version alone. */
const onlyTheVersion = {
  name: 'only-the-version',
  load(id) {
    if (id !== resolve('package.json')) return null;
    const { version } = JSON.parse(readFileSync(id, 'utf8'));
    return { code: JSON.stringify({ version }), moduleType: 'json' };
  },
};

const dashboard = resolve('src/service/dashboard');
const textFiles = [
  'language/english',
  'language/mongolian',
  'assets/style',
  'assets/script',
  'assets/counter',
];

/** The literal that a file of the dashboard exports. */
function literalIn(file) {
  const code = readFileSync(join(dashboard, `${file}.ts`), 'utf8');
  const [, literal] = /export const \w+(?:: \w+)? = (.*?);\n(?:\nexport type .*)?$/s.exec(code);
  return new Function(`return ${literal}`)();
}

function packedTexts() {
  const [english, mongolian, style, script, counter] = textFiles.map(literalIn);
  const names = Object.keys(english);
  const minified = (text, loader) =>
    transformSync(text, { loader, minify: true, target: 'es2020' }).code.trim();
  const lists = [names, names.map((name) => english[name]), names.map((name) => mongolian[name])];
  if (/[\0\n]/.test(lists.flat().join(''))) throw new Error('a text of the dashboard has two lines');
  const [named, inEnglish, inMongolian] = lists.map((list) => list.join('\n'));
  // In this order they take the fewest bytes.
  const scripts = [script, counter].map((code) => minified(code, 'js'));
  const all = [named, inEnglish, minified(style, 'css'), ...scripts, inMongolian];
  return brotliCompressSync(all.join('\0')).toString('base64');
}

/** Escaped, Cyrillic letters would take six bytes each: the texts of the dashboard are packed, with its style and script. */
const dashboardTexts = {
  name: 'dashboard-texts',
  resolveId: (id) => (id === '\0dashboard-texts' ? id : null),
  load(id) {
    if (id === '\0dashboard-texts')
      return `import { brotliDecompressSync } from 'node:zlib';
        const packed = Buffer.from('${packedTexts()}', 'base64');
        const [names, english, style, script, counter, mongolian] = brotliDecompressSync(packed).toString().split('\\0');
        const named = (list, texts = list.split('\\n')) =>
          Object.fromEntries(names.split('\\n').map((name, index) => [name, texts[index]]));
        export const texts = { english: named(english), mongolian: named(mongolian), style, script, counter };`;
    const file = textFiles.find((each) => id === join(dashboard, `${each}.ts`));
    if (file === undefined) return null;
    const name = basename(file);
    return `import { texts } from '\0dashboard-texts'; export const ${name} = texts.${name};`;
  },
};

/** The code cache reads bundles as one byte a character, which V8 keeps in half the space. */
const onlyAscii = {
  name: 'only-ascii',
  generateBundle(_, output) {
    for (const chunk of chunksOf(Object.values(output))) {
      const ascii = chunk.code.replace(/[^\0-\x7f]/g, escaped);
      if (chunk.map && ascii !== chunk.code) throw new Error('an escape moves what the source map points to');
      chunk.code = ascii;
    }
  },
};
const chunksOf = (output) => output.filter(({ type }) => type === 'chunk');
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** No export is ever given another value, and a getter for each takes longer to load than the value. */
const plainExports = {
  name: 'plain-exports',
  generateBundle(_, output) {
    for (const chunk of chunksOf(Object.values(output)))
      chunk.code = chunk.code.replace(
        /Object\.defineProperty\(exports,"([\w$]+)",\{enumerable:!0,get:function\(\)\{return ([\w$]+)\}\}\)/g,
        'exports.$1=$2',
      );
  },
};

/** Among the short names that one chunk gives another there are words of the language, such as `in`. */
function isName(text) {
  try {
    return new Function(`var ${text}`) !== null;
  } catch {
    return false;
  }
}

/** Node.js looks for the names of a CommonJS module without running it; this is a form that it finds. */
const namesForEsm = {
  name: 'names-for-esm',
  generateBundle(_, output) {
    for (const chunk of Object.values(output)) {
      if (!chunk.isEntry) continue;
      const names = `0&&(module.exports={${chunk.exports.filter(isName).join(',')}});`;
      // The comment that names the source map stays the last line.
      chunk.code = chunk.code.replace(/(?:\n\/\/# sourceMappingURL=.*\s*)?$/, (end) => names + end);
    }
  },
};

/** PostgreSQL keeps the text of its functions: without comments and indentation. No literal goes over two lines. */
const plainSql = {
  name: 'plain-sql',
  load: (id) =>
    id.endsWith('.sql')
      ? { code: readFileSync(id, 'utf8').replace(/^\s*(?:--.*\n)?[ \t]*/gm, ''), moduleType: 'text' }
      : null,
};

/**
 * Writes `dist/<name>.cjs`, in one file, or with what `together` matches in one chunk and what is imported late
 * in others; with `sourcemap`, a map that holds the source. Gives the code and the files it was made of.
 */
export async function bundle(name, source, { constants = {}, together, sourcemap = false } = {}) {
  const [folder, entry] = name.split('/');
  const built = await rolldown({
    input: { [entry]: source },
    platform: 'node',
    external: ['@photostructure/sqlite'],
    // Or the entry would be a file of its own that only hands on what the core exports.
    preserveEntrySignatures: 'allow-extension',
    plugins: [
      serviceDoor,
      clientDoor,
      mailReader,
      mailDecoder,
      htmlEntitiesInFewBytes,
      unreached,
      plainWhereNothingElse,
      onlyTheVersion,
      fewLocales,
      plainSql,
      plainElements,
      dashboardTexts,
    ],
    transform: {
      target: 'node20',
      define: Object.fromEntries(
        Object.entries(constants).map(([key, value]) => [key, JSON.stringify(value)]),
      ),
    },
    onLog(level, log, handler) {
      // A module imported both at once and late is loaded at once; that is no mistake.
      if (log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') handler(level, log);
    },
  });
  const { output: files } = await built.write({
    dir: join('dist', folder),
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    codeSplitting: together === undefined ? false : { groups: together },
    dynamicImportInCjs: false,
    // Node.js finds the names of a CommonJS module without running it, and does not trust getters.
    externalLiveBindings: false,
    comments: false,
    sourcemap,
    // Classes keep their names, and functions too except in the command, for stack traces that can be read: the log
    // of a service has nothing else. Where there is a map there are lines: Node.js prints the whole line that threw
    // an error which nobody catches.
    minify: {
      compress: true,
      mangle: { keepNames: { class: true, function: folder !== 'cli' } },
      codegen: { removeWhitespace: !sourcemap },
    },
    plugins: [onlyAscii, plainExports, namesForEsm],
  });
  await built.close();
  const output = chunksOf(files);
  return {
    code: output.map((chunk) => chunk.code).join(''),
    inputs: output.flatMap(({ modules }) =>
      Object.keys(modules)
        .filter((id) => modules[id].renderedLength > 0)
        .map((id) => relative('.', id)),
    ),
  };
}
