import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { transformSync } from 'esbuild';
import { csvOptions } from './csv-options.js';

const read = (path) => readFileSync(resolve('node_modules', path), 'utf8');

/** Takes out of a library what must be in it. */
const without = (path, ...patterns) =>
  patterns.reduce((rest, pattern) => {
    const shorter = rest.replace(pattern, '');
    if (shorter === rest) throw new Error(`${path} has no ${pattern}`);
    return shorter;
  }, read(path));

const commander = 'commander/lib/command.js';
/** Nobody calls these, and commands are functions: without child processes the start loads less of Node.js. */
const uncalled =
  `addCommand addHelpCommand addHelpOption allowExcessArguments allowUnknownOption commandsGroup
  executableDir getOptionValueSourceWithGlobals optsWithGlobals passThroughOptions setOptionValue showHelpAfterError
  _checkForBrokenPassThrough _checkForMissingExecutable _executeSubCommand`.split(/\s+/);
const methodOf = (name) => new RegExp(`^( {2}| {4})${name}\\(.*\\) \\{\\n[\\s\\S]*?^\\1\\}\\n`, 'm');

/** Of XML without namespaces. */
const saxes = 'saxes/saxes.js';
const ofNamespaces = ['processAttribsNS', 'pushAttribNS', 'qname', 'resolve'];
const [xml10, xml11] = ['xmlchars/xml/1.0/ed5.js', 'xmlchars/xml/1.1/ed2.js'];

/** Workbooks are read in pieces of their own, and no dates of their parts. */
const yauzl = 'yauzl/index.js';
const ofOtherFiles = `open fromFd fromBuffer openPromise fromFdPromise fromBufferPromise
  dosDateTimeToDate`.split(/\s+/);
const unread = ['getLastModDate', 'openReadStreamLowLevelPromise', 'readLocalFileHeaderPromise'];
const functionOf = (name) =>
  new RegExp(`^(?:function |\\w+\\.prototype\\.)${name}(?: = function)?\\(.*\\n[\\s\\S]*?^\\};?\\n`, 'm');
const exportOf = (name) => new RegExp(`^exports\\.${name} = .*\\n`, 'm');

/** As the command computes it. */
function crc32() {
  const source = readFileSync('src/cli/xlsx/checksum.ts', 'utf8');
  const { code } = transformSync(source, { loader: 'ts', format: 'cjs' });
  return `${code}\nmodule.exports = (bytes) => tableChecksum(bytes, 0);`;
}

/** What nothing here reaches of a library: its files, by path, and what they are replaced with. */
const replaced = {
  [commander]: () => without(commander, /^const childProcess = .*;\n/m, ...uncalled.map(methodOf)),
  'csv-parse/lib/api/normalize_options.js': csvOptions,
  // Of some 200 figures, questions show three.
  '@inquirer/figures/dist/index.js': () =>
    without(
      '@inquirer/figures/dist/index.js',
      /^ {4}(?!(?:line|pointer|tick): )\w+: '.*',\n/gm,
      /^const replacements = [\s\S]*/m,
    ),
  [xml10]: () => without(xml10, /^exports\.(?:CHAR|S|(?!NAME_RE\b)\w+_RE) = .*;\n/gm),
  [xml11]: () => /^function isChar\([\s\S]*?^exports\..*/m.exec(read(xml11))[0],
  'xmlchars/xmlns/1.0/ed3.js': () => '',
  [saxes]: () => without(saxes, ...ofNamespaces.map(methodOf)),
  [yauzl]: () =>
    without(yauzl, ...[...ofOtherFiles, ...unread].map(functionOf), ...ofOtherFiles.map(exportOf)),
  'yauzl/fd-slicer.js': () => '',
  'yauzl/crc32.js': crc32,
  // Mails have no attachments: no content is fetched from elsewhere, and no file's type is looked up.
  'nodemailer/dist/esm/fetch/index.js': () => `export default () => { throw new Error('unused'); };`,
  'nodemailer/dist/esm/mime-funcs/mime-types.js': () =>
    `export const detectMimeType = () => 'application/octet-stream';
     export const detectExtension = () => 'bin';`,
  // Of some 90 spinners ora itself picks one of two: by whether the terminal has Unicode.
  'cli-spinners/spinners.json': () => {
    const { dots, line } = JSON.parse(read('cli-spinners/spinners.json'));
    return { code: JSON.stringify({ dots, line }), moduleType: 'json' };
  },
  // The proxy agent would print what it does with the variable DEBUG.
  'debug/src/index.js': () => 'export default () => () => {};',
  // One connection for each purpose, by the client in JavaScript.
  'pg-pool/index.js': () => 'module.exports = class {};',
  'pg/lib/native/index.js': () => `module.exports = require('../client');`,
};

export const unreached = {
  name: 'unreached',
  load(id) {
    const [, path] = /.*[/\\]node_modules[/\\](.*)$/s.exec(id) ?? [];
    return replaced[path?.replaceAll('\\', '/')]?.() ?? null;
  },
};
