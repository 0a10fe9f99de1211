import { type JsonTemplate, Literal, type TextTemplate } from './gateway-route.js';

/** What a gateway's request may contain. */
export const placeholders = [
  'number',
  'text',
  'id',
  'parts',
  'unicode',
  'coding',
  'type',
  'receipt_url',
] as const;
export type Placeholder = (typeof placeholders)[number];
export type Values = Readonly<Record<Placeholder, string>>;

const pattern = /\{([^{}]*)\}/g;

const isPlaceholder = (name: string): name is Placeholder =>
  (placeholders as readonly string[]).includes(name);

/** The first unknown name in braces; null if there is none. */
export function unknownPlaceholder(template: string): string | null {
  for (const [, name = ''] of template.matchAll(pattern)) if (!isPlaceholder(name)) return name;
  return null;
}

export function hasPlaceholder(text: string): boolean {
  return [...text.matchAll(pattern)].some(([, name = '']) => isPlaceholder(name));
}

/** Replaces in one pass: placeholders in a value are not replaced. */
export function fillIn(template: TextTemplate, values: Values): string {
  if (template instanceof Literal) return template.value;
  // Most templates are one placeholder.
  const only = template.slice(1, -1);
  if (isPlaceholder(only) && template === `{${only}}`) return values[only];
  return template.replace(pattern, (whole, name: string) => (isPlaceholder(name) ? values[name] : whole));
}

/** The JSON of a template, with values inserted into its strings. */
export function fillJson(template: JsonTemplate, values: Values): unknown {
  if (typeof template === 'string' || template instanceof Literal) return fillIn(template, values);
  if (typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.map((one) => fillJson(one, values));
  return Object.fromEntries(Object.entries(template).map(([name, one]) => [name, fillJson(one, values)]));
}

/** The strings of a template, without its secrets. */
export function textsOf(template: JsonTemplate): string[] {
  if (typeof template === 'string') return [template];
  if (typeof template !== 'object' || template === null || template instanceof Literal) return [];
  return Object.values(template).flatMap((one) => textsOf(one as JsonTemplate));
}
