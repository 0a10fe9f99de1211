import { resolve } from 'node:path';

/** From its list of encodings, which Node.js has too, to the end of the function that makes a decoder. */
const making = /const ENCODING_LABELS = [\s\S]*?\nfunction tryDecoder\(charset\) \{\n[\s\S]*?\n\}\n/;
const ours = `const decoders = new Map();
function tryDecoder(charset) {
  if (!decoders.has(charset)) {
    try {
      decoders.set(charset, wholeTextDecoder(charset));
    } catch {
      return null;
    }
  }
  return decoders.get(charset);
}
`;

/** The reader of mails decodes as everything else does. For the bundles, and for tests, which use it unbundled. */
export const mailDecoder = {
  name: 'mail-decoder',
  transform(code, id) {
    if (!/[/\\]postal-mime[/\\]dist[/\\]esm[/\\]decode-strings\.js$/.test(id)) return null;
    if (!making.test(code)) throw new Error('postal-mime makes its decoders otherwise now');
    const source = JSON.stringify(resolve('src/contract/whole-text.ts'));
    return `import { wholeTextDecoder } from ${source};\n${code.replace(making, ours)}`;
  },
};
