import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../../errors/service-error.js';
import { quoteKey } from '../../parse-fields.js';

export type JsonObject = Record<string, unknown>;

/** The deepest valid request has two levels. */
const maxDepth = 32;
const prototypeKeys = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Parses a request body: UTF-8 without a byte order mark, one JSON object, no duplicate keys in an object, no key
 * that reaches a prototype. Throws ServiceError `invalid_request`.
 */
export function parseStrictJson(bytes: Uint8Array): JsonObject {
  const text = decodeUtf8(bytes);
  if (text === '') throw refusal('The body is empty; it must be a JSON object');
  if (text.startsWith('\uFEFF')) throw refusal('The body must not start with a byte order mark');
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal('The body must be a JSON object');
  }
  checkKeys(text);
  return value as JsonObject;
}

function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw refusal('The body must be UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal('The body must be valid JSON');
  }
}

/** JSON.parse silently keeps the last of two equal keys, so valid JSON is scanned again for its keys. */
function checkKeys(text: string): void {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '{' || character === '[') {
      if (open.length === maxDepth) throw refusal(`The body is nested more than ${maxDepth} levels deep`);
      open.push(character === '{' ? new Set() : null);
    } else if (character === '}' || character === ']') {
      open.pop();
    } else if (character === '"') {
      const end = endOfString(text, at);
      const keys = open.at(-1);
      if (keys && isKey(text, end)) addKey(keys, text.slice(at, end));
      at = end - 1;
    }
  }
}

/** The index after the closing quote of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function isKey(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return text[at] === ':';
}

function addKey(keys: Set<string>, literal: string): void {
  const key = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (prototypeKeys.has(key)) throw refusal(`${key}: is not allowed as a key`);
  if (keys.has(key)) throw refusal(`${quoteKey(key)}: appears twice in one object`);
  keys.add(key);
}

const refusal = (message: string) => new ServiceError('invalid_request', message);
