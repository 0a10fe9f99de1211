import { resolve } from 'node:path';

const made = 'decoder = new TextDecoder(charset);';

/** The reader of mails decodes as everything else does. For the bundles, and for tests, which use it unbundled. */
export const mailDecoder = {
  name: 'mail-decoder',
  transform(code, id) {
    if (!/[/\\]postal-mime[/\\]dist[/\\]esm[/\\]decode-strings\.js$/.test(id)) return null;
    if (!code.includes(made)) throw new Error('postal-mime makes its decoders otherwise now');
    const ours = JSON.stringify(resolve('src/contract/whole-text.ts'));
    return `import { wholeTextDecoder } from ${ours};\n${code.replace(made, 'decoder = wholeTextDecoder(charset);')}`;
  },
};
