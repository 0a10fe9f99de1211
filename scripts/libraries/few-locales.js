import { resolve } from 'node:path';

/** Of the names of months and days in all languages a workbook here needs few; others are shown in English. */
export const fewLocales = {
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
