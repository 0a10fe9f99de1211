import { readFileSync } from 'node:fs';

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
export const plainElements = {
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
