import type { JsonTemplate } from './gateway-route.js';

/** What a request of a gateway may insert. */
export const placeholders = ['number', 'text', 'id', 'parts', 'unicode', 'receipt_url'] as const;
export type Placeholder = (typeof placeholders)[number];
export type Values = Readonly<Record<Placeholder, string>>;

const pattern = /\{([^{}]*)\}/g;

const isPlaceholder = (name: string): name is Placeholder =>
  (placeholders as readonly string[]).includes(name);

/** The first name in braces that stands for nothing; null for none. */
export function unknownPlaceholder(template: string): string | null {
  for (const [, name = ''] of template.matchAll(pattern)) if (!isPlaceholder(name)) return name;
  return null;
}

export function usesPlaceholder(template: string, name: Placeholder): boolean {
  return template.includes(`{${name}}`);
}

/** One pass: what a value holds is never read as a placeholder. */
export function fillIn(template: string, values: Values): string {
  return template.replace(pattern, (whole, name: string) => (isPlaceholder(name) ? values[name] : whole));
}

/** Calls `each` for every string of a template. */
export function mapStrings(template: JsonTemplate, each: (text: string) => string): JsonTemplate {
  if (typeof template === 'string') return each(template);
  if (typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.map((one) => mapStrings(one, each));
  const entries = Object.entries(template).map(([name, one]) => [name, mapStrings(one, each)] as const);
  return Object.fromEntries(entries);
}
