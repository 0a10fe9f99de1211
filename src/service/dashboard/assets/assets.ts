import { createHash } from 'node:crypto';
import { root } from '../page.js';
import { counter } from './counter.js';
import { script } from './script.js';
import { style } from './style.js';

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="#2f5bd3"/><path d="M3.5 17.5l5.5-9 4 6.3 2.3-3.6 4.7 6.3z" fill="#fff"/></svg>';

interface Asset {
  type: string;
  body: string;
}

const tagOf = (body: string) => createHash('sha256').update(body).digest('base64url').slice(0, 12);

/** Their names change with their content, so that browsers can cache them. */
export const assetPaths = {
  style: `${root}/assets/style-${tagOf(style)}.css`,
  script: `${root}/assets/script-${tagOf(script)}.js`,
  counter: `${root}/assets/counter-${tagOf(counter)}.js`,
  icon: `${root}/assets/icon-${tagOf(icon)}.svg`,
};

const assets: ReadonlyMap<string, Asset> = new Map([
  [assetPaths.style, { type: 'text/css; charset=utf-8', body: style }],
  [assetPaths.script, { type: 'text/javascript; charset=utf-8', body: script }],
  [assetPaths.counter, { type: 'text/javascript; charset=utf-8', body: counter }],
  [assetPaths.icon, { type: 'image/svg+xml', body: icon }],
]);

/** Null for another path. */
export function assetAt(path: string): Response | null {
  const asset = assets.get(path);
  if (asset === undefined) return null;
  return new Response(asset.body, {
    headers: {
      'Content-Type': asset.type,
      'Cache-Control': 'max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    },
  });
}
