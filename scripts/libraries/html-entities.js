import { isDeepStrictEqual } from 'node:util';
import { htmlEntities } from '../../node_modules/postal-mime/dist/esm/html-entities.js';

/**
 * The characters in order, each as the distance of its code point from the one before, further code points, and its
 * names: `1 amp! num`. A name with `!` stands without a semicolon too.
 */
function written() {
  const names = new Map();
  for (const [written, text] of Object.entries(htmlEntities)) {
    if (!written.endsWith(';')) continue;
    const name = written.slice(1, -1);
    const entry = `&${name}` in htmlEntities ? `${name}!` : name;
    names.set(text, [...(names.get(text) ?? []), entry]);
  }
  const points = (text) => Array.from(text, (each) => each.codePointAt(0));
  let last = 0;
  return [...names.keys()]
    .sort((one, other) => points(one)[0] - points(other)[0])
    .map((text) => {
      const [first, ...others] = points(text);
      const numbers = [first - last, ...others].map((each) => each.toString(36)).join('+');
      last = first;
      return `${numbers} ${names.get(text).join(' ')}`;
    })
    .join('\n');
}

const reading = `
  const entities = {};
  let last = 0;
  for (const line of table.split('\\n')) {
    const [numbers, ...names] = line.split(' ');
    const [distance, ...others] = numbers.split('+').map((each) => Number.parseInt(each, 36));
    const text = String.fromCodePoint((last += distance), ...others);
    for (const name of names) {
      const plain = name.replace('!', '');
      entities['&' + plain + ';'] = text;
      if (plain !== name) entities['&' + plain] = text;
    }
  }
  return entities;`;

/** The 2,231 names of characters in HTML, in under half of the bytes; read when a text has one. */
export const htmlEntitiesInFewBytes = {
  name: 'html-entities',
  load(id) {
    if (!/[/\\]postal-mime[/\\]dist[/\\]esm[/\\]html-entities\.js$/.test(id)) return null;
    const table = written();
    if (!isDeepStrictEqual(new Function('table', reading)(table), { ...htmlEntities }))
      throw new Error('the names of characters in HTML are lost');
    return `const read = (table) => {${reading}};
      let entities;
      export const htmlEntities = () => (entities ??= read(${JSON.stringify(table)}));`;
  },
  transform(code, id) {
    if (!/[/\\]postal-mime[/\\]dist[/\\]esm[/\\]text-format\.js$/.test(id)) return null;
    if (code.match(/htmlEntities(?! \})/g).length !== code.match(/htmlEntities\[match\]/g).length)
      throw new Error('postal-mime looks up the names of characters otherwise now');
    return code.replaceAll('htmlEntities[match]', 'htmlEntities()[match]');
  },
};
