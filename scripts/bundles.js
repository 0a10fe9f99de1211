import { readFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { transformSync } from 'esbuild';
import { rolldown } from 'rolldown';
import { mailDecoder } from './mail-decoder.js';

/** The command line reaches the service through one lazy door; its bundle stays out of every other. */
const serviceDoor = {
  name: 'service-door',
  resolveId: (id) =>
    /\/service\/index\.js$/.test(id) ? { id: '../service/index.cjs', external: 'relative' } : null,
};

/** Its spawning of executable subcommands is not used, and would load half of Node.js at each start. */
const commanderSpawnsNothing = {
  name: 'commander-spawns-nothing',
  resolveId: (id, importer) =>
    id === 'node:child_process' && /[/\\]node_modules[/\\]commander[/\\]/.test(importer) ? '\0nothing' : null,
  load: (id) => (id === '\0nothing' ? 'module.exports = {};' : null),
};

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

/** Tables measure texts as everything else does, without a second table of all emoji. */
const oneWidth = {
  name: 'one-width',
  resolveId: (id, importer) =>
    id === 'string-width' && /[/\\]node_modules[/\\]cli-table3[/\\]/.test(importer) ? '\0width' : null,
  load: (id) =>
    id === '\0width'
      ? `module.exports = require(${JSON.stringify(resolve('node_modules/string-width/index.js'))}).default;`
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

/** Of the names of months and days in all languages a workbook here needs few; others are shown in English. */
const fewLocales = {
  name: 'few-locales',
  // Its manifest names the CommonJS file alone, of which nothing can be left out.
  resolveId: (id) => (id === 'numfmt' ? resolve('node_modules/numfmt/dist/index.mjs') : null),
  transform(code, id) {
    if (!/[/\\]numfmt[/\\]dist[/\\]index\.mjs$/.test(id)) return null;
    const kept = code
      .replace(/^\taddLocale\((?:xm\()?\{[\s\S]*?, "([\w-]+)"\);$/gm, (statement, language) =>
        /^(?:en|en-US|mn|ru|kk)$/.test(language) ? withoutParsing(statement) : '',
      )
      .replace(/^\t\d+: "(?!en|mn|ru|kk)[\w-]+",\n/gm, '')
      // What several languages share.
      .replace(/^\tconst _\w+ = (?:xm\()?\{\n(?:\t\t.*\n)+\t\}(?:, -?\d+, -?\d+\))?;\n/gm, '');
    if (kept.length > code.length * 0.9 || !kept.includes('}, "mn");'))
      throw new Error('numfmt has other locales now');
    return kept;
  },
};

/** Words for formats that are written in a language, and for the Islamic calendar. */
const withoutParsing = (locale) =>
  locale.replace(/^\t\t(?:colors|opcodes): \{\n(?:\t\t\t.*\n)+\t\t\},\n|^\t\tmmmm?6: .*\n/gm, '');

/** Of some 90 spinners ora itself picks one of two: by whether the terminal has Unicode. */
const twoSpinners = {
  name: 'two-spinners',
  load(id) {
    if (!/[/\\]cli-spinners[/\\]spinners\.json$/.test(id)) return null;
    const { dots, line } = JSON.parse(readFileSync(id, 'utf8'));
    return { code: JSON.stringify({ dots, line }), moduleType: 'json' };
  },
};

/** Mails have no attachments, so no file's type is looked up in the list of all of them. */
const noFileTypes = {
  name: 'no-file-types',
  load: (id) =>
    /[/\\]nodemailer[/\\]dist[/\\](?:cjs|esm)[/\\]mime-funcs[/\\]mime-types\.js$/.test(id)
      ? `export const detectMimeType = () => 'application/octet-stream';
         export const detectExtension = () => 'bin';`
      : null,
};

/** The proxy agent would print what it does with the variable DEBUG. */
const noDebugging = {
  name: 'no-debugging',
  resolveId: (id) => (id === 'debug' ? '\0debug' : null),
  load: (id) => (id === '\0debug' ? 'export default () => () => {};' : null),
};

/** The pages use elements and components alone: no contexts, no styles as objects, nothing that moves to the head. */
const unusedOfJsx = {
  'intrinsic-element/components.js': 'export const components_exports = {};',
  'context.js': `export const globalContexts = [];
    export const createContext = () => ({ children }) => children;
    export const useContext = () => '';
    export const captureRenderContext = () => undefined;
    export const runWithRenderContext = (work) => work();`,
  'utils.js': `export const normalizeIntrinsicElementKey = (name) => name;
    export const isValidTagName = () => true;
    export const isValidAttributeName = () => true;
    export const styleObjectForEach = () => {};`,
  // Called for each of some 400 elements, and functions keep their names.
  'jsx-dev-runtime.js': `import { jsxFn } from './base.js';
    export { Fragment } from './base.js';
    export const h = (tag, props) => jsxFn(tag, props, 'children' in props ? [props.children].flat() : []);
    export { h as jsxDEV };`,
};
/**
 * No component, child or attribute is asynchronous, no HTML or style an object, no attribute a function or a reference; SVG
 * attributes stand as written, few are booleans, and four elements are empty.
 */
const replacedInJsx = [
  [/const normalizeKey = .*;/, ''],
  [/key = normalizeKey\(key\);/, ''],
  [/if \(typeof tag !== "function" && !isValidTagName\(tag\)\) throw .*;/, ''],
  [/if \(!isValidAttributeName\(key\)\) continue;/, ''],
  [/tag === "svg" \|\| tag === "head"/, 'false'],
  [/key === "dangerouslySetInnerHTML" .* in v(?=\))/, 'false'],
  [/key === "style" && typeof v === "object"/, 'false'],
  [
    /(const booleanAttributes = .*new Set\()\[[^\]]*\]/,
    `$1'autofocus checked disabled hidden multiple open readonly required selected'.split(' ')`,
  ],
  [/else if \(res instanceof Promise\) \{\n.*\n.*\n\t\t\}/, ''],
  [/(const emptyTags = )\[[^\]]*\]/, `$1['img', 'input', 'link', 'meta']`],
  [/if \(typeof v === "function"\) \{\n.*\n.*\n\t\}/, ''],
  [/key === "ref" \|\| /, ''],
  [/typeof v === "string"\) escapeToBuffer\(v, buffer\);\n.*\n\telse \{/, 'true) {'],
  [/get type\(\) \{\n.*\n\t\}\n\tget ref\(\) \{\n.*\n\t\}/, ''],
  [/return runWithRenderContext\(render\);(?=\n\t\}\n\ttoStringToBuffer)/, 'return render();'],
  [
    /const s = v instanceof Promise .*\n(?:.*\n){4}\t\tescapeToBuffer\(s, buffer\)/,
    'escapeToBuffer(String(v), buffer)',
  ],
  [/else if \(child\.isEscaped\) \{\n(?:.*\n){6}\t\t\} else if .*buffer\.unshift\("", child\);/, ''],
  [
    /else if \(typeof res === "number" \|\| res\.isEscaped\) \{\n(?:.*\n){5}\t\t\} else escapeToBuffer\(res, buffer\)/,
    'else escapeToBuffer(String(res), buffer)',
  ],
  [/return buffer\.length === 1 \? "callbacks" in buffer .*/, 'return buffer[0];'],
  [/if \(!initDomRenderer\) \{\n.*\n.*\n\t\}/, ''],
  [/else if \(components_exports\[tag\]\) .*/, ''],
];
/** What hono escapes, as it does, in a line; nothing else of its file is used. */
const escaping = `const signs = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  export const escapeToBuffer = (text, buffer) =>
    void (buffer[0] += text.replace(/[&<>"']/g, (sign) => signs[sign]));
  const unused = () => { throw new Error('unused'); };
  export { unused as raw, unused as resolveCallbackSync, unused as stringBufferToString };`;
const plainElements = {
  name: 'plain-elements',
  load(id) {
    if (/[/\\]hono[/\\]dist[/\\]utils[/\\]html\.js$/.test(id)) return escaping;
    const [, found] = /[/\\]hono[/\\]dist[/\\]jsx[/\\](.*)$/.exec(id) ?? [];
    const part = found?.replaceAll('\\', '/');
    if (part !== 'base.js') return unusedOfJsx[part] ?? null;
    return replacedInJsx.reduce(
      (code, [pattern, plain]) => {
        if (!pattern.test(code)) throw new Error(`hono/jsx has no ${pattern}`);
        return code.replace(pattern, plain);
      },
      readFileSync(id, 'utf8'),
    );
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

/**
 * Writes `dist/<name>.cjs`, in one file, or with what `together` matches in one chunk and what is imported late
 * in others; with `sourcemap`, a map that holds the source. Gives the code and the files it was made of.
 */
/** PostgreSQL keeps the text of its functions: without comments and indentation. No literal goes over two lines. */
const plainSql = {
  name: 'plain-sql',
  load: (id) =>
    id.endsWith('.sql')
      ? { code: readFileSync(id, 'utf8').replace(/^\s*(?:--.*\n)?[ \t]*/gm, ''), moduleType: 'text' }
      : null,
};

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
      mailReader,
      mailDecoder,
      commanderSpawnsNothing,
      plainWhereNothingElse,
      oneWidth,
      onlyTheVersion,
      fewLocales,
      twoSpinners,
      noFileTypes,
      noDebugging,
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
