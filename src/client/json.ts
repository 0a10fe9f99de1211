export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
/** JSON numbers are unbounded: 1e999 parses as Infinity. */
export const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);
