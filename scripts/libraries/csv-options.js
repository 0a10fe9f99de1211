import { isDeepStrictEqual } from 'node:util';
import { normalize_options } from '../../node_modules/csv-parse/lib/api/normalize_options.js';

/** What the command reads CSV with; files differ in the delimiter. */
const optionsWith = (delimiter) => ({
  delimiter,
  record_delimiter: ['\n', '\r\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  max_record_size: 1,
});
const sample = optionsWith(';');

const literal = (value) =>
  Buffer.isBuffer(value) ? `Buffer.from('${value}')` : (JSON.stringify(value) ?? 'undefined');
const others = Object.entries(normalize_options(sample)).filter(([name]) => !(name in sample));

const body = `
  for (const name in options)
    if (!${JSON.stringify([...Object.keys(sample), 'on_skip'])}.includes(name))
      throw new Error('the reader of CSV is built without its option ' + name);
  const bytes = (text) => Buffer.from(text);
  return {
    ...options,
    delimiter: [bytes(options.delimiter)],
    record_delimiter: options.record_delimiter.map(bytes),
    ${others.map(([name, value]) => `${name}: ${literal(value)}`).join(',\n    ')},
  };`;

/** csv-parse checks 40 options that nobody sets: their defaults are known. */
export function csvOptions() {
  const made = new Function('options', body);
  for (const options of [',', '\t', '||'].map(optionsWith))
    if (!isDeepStrictEqual(made(options), normalize_options(options)))
      throw new Error('csv-parse reads its options otherwise now');
  return `export const normalize_options = (options) => {${body}};`;
}
