import { writeFileSync } from 'node:fs';

const prefixes = ['88', '95', '86', '80'];

/** Recipients nobody else has: so many, from a place in the numbering plan on. */
export function recipients(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const place = first + index;
    return `${prefixes[Math.floor(place / 1_000_000)]}${String(place % 1_000_000).padStart(6, '0')}`;
  });
}

/** Most of them share a few texts and go in batches; one in fifty has a text of its own. */
export function writeList(path: string, numbers: readonly string[]): void {
  const lines = numbers.map((number, index) => {
    const text = index % 50 === 0 ? `Захиалга ${number}` : `Text ${index % 10}`;
    return `${number},${text}\n`;
  });
  writeFileSync(path, `phone,message\n${lines.join('')}`);
}
