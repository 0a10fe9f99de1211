/**
 * 64 bits of FNV-1a, in two lanes: enough to distinguish projects, and far too little to recover a key. Loading
 * node:crypto would take 2 ms of each start.
 */
export function fingerprint(text: string): string {
  let high = 0x811c9dc5;
  let low = 0xc9dc5118;
  for (let at = 0; at < text.length; at += 1) {
    high = Math.imul(high ^ text.charCodeAt(at), 0x01000193);
    low = Math.imul(low ^ text.charCodeAt(text.length - 1 - at), 0x01000193);
  }
  return [high, low].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
}
