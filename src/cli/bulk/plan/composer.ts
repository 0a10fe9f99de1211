import { unguard } from '../../../contract/csv.js';
import {
  type Channel,
  characters,
  isOneLine,
  maxEmailBodyBytes,
  maxParts,
  maxRequestBytes,
  maxSenderNameLength,
  maxSubjectLength,
  measureText,
  normalizeAddress,
  type TextKind,
} from '../../../contract/index.js';
import { cleanField, cleanValues, composed, trimmed } from '../../text/clean.js';
import { toGsm } from '../../text/gsm.js';
import { errorValue, isErrorValue } from '../input/cell-error.js';
import { InputError, quoted } from '../input/input-error.js';
import { type RepairKind, repairAddress } from '../input/repair.js';
import { mayBeOwn, ownColumns } from '../input/report-columns.js';
import {
  type BoundTemplate,
  bindTemplate,
  isBlank,
  parseTemplate,
  type Template,
} from './template/template.js';

/** The fields of a message as templates; the channel determines which are required. */
export interface MessageTemplates {
  text?: string | undefined;
  subject?: string | undefined;
  html?: string | undefined;
  fromName?: string | undefined;
  replyTo?: string | undefined;
}

export interface ComposedMessage {
  /** The JSON of the request body after `to`: the other fields and the closing brace. */
  tail: string;
  kind: TextKind | 'email';
  /** SMS parts; 0 for an email. */
  parts: number;
  /** Of the bodies of an email. */
  bytes?: number;
  /** Whether `--gsm` has replaced characters. */
  isReplaced?: boolean;
}

/** Why a row has no message; `column` is a column of the input, or an option. */
export interface MessageError {
  column: string;
  error: string;
}

/** Indexes of the columns that the message of a row uses. */
export interface Uses {
  /** All that it depends on. */
  read: readonly number[];
  /** Those whose values are in it, and cannot be empty. */
  put: readonly number[];
  /** Those that are empty, and have a fallback in it. */
  fallbacks: readonly number[];
}

export interface Composer {
  /** Indexes of the columns used in the templates; empty for a constant message. */
  columns: readonly number[];
  compose(values: readonly string[]): ComposedMessage | MessageError[];
  /** Absent if every row puts in all of them. */
  usesIn?: ((values: readonly string[]) => Uses) | undefined;
  /** Absent if the messages are taken over as they are. */
  reading?: Reading;
}

/** What the release at e5bfb29c, which repaired no texts, made of a row. */
export interface Reading {
  /** Whether all rows are as they were: nothing of theirs is in the message, nor is its text repaired. */
  isConstant: boolean;
  /** What is repaired in the message of a row; null if that release sent the same message. */
  changesIn(values: readonly string[]): readonly RepairKind[] | null;
  /** The tail of its message; null if it refused the row. */
  earlierTail(values: readonly string[]): string | null;
}

/** Room in a request body for `to` and one recipient. */
const recipientReserve = 1_000;

type Field = 'subject' | 'html' | 'text' | 'from_name' | 'reply_to';

/** Parses the templates, in the order of the fields of the request body. Throws InputError. */
export function parseTemplates(channel: Channel, templates: MessageTemplates): [Field, Template][] {
  return fieldsOf(channel, templates).map(([field, text]) => [field, parse(field, cleanField(field, text))]);
}

const parse = (field: Field, text: string) => parseTemplate(text, field.replace('_', '-'), contentOf(field));

function fieldsOf(channel: Channel, templates: MessageTemplates): [Field, string][] {
  const written: [Field, string | undefined][] =
    channel === 'sms'
      ? [['text', templates.text]]
      : [
          ['subject', templates.subject],
          ['html', templates.html],
          ['text', templates.text],
          ['from_name', templates.fromName],
          ['reply_to', templates.replyTo],
        ];
  return written.flatMap(([field, text]) => (text === undefined ? [] : [[field, text]]));
}

const contentOf = (field: Field) => (field === 'html' ? 'html' : 'plain');

interface BindOptions {
  /** Whether quotes, dashes and blanks that the GSM alphabet lacks are replaced in an SMS. */
  gsm?: boolean | undefined;
  parsed?: readonly [Field, Template][];
}

/** Binds the templates to the columns of the input. Throws InputError if a constant message breaks a rule. */
export function bindMessage(
  channel: Channel,
  templates: MessageTemplates,
  columns: readonly string[],
  { gsm = false, parsed = parseTemplates(channel, templates) }: BindOptions = {},
): Composer {
  const fields = bind(parsed, columns);
  const used = [...new Set(fields.flatMap(([, template]) => template.columns))];
  const isConditional = fields.some(([, template]) => template.isConditional);
  const usesIn = isConditional ? (values: readonly string[]) => usesOf(fields, values) : undefined;
  const always: Uses = { read: used, put: used, fallbacks: [] };
  const isUncertain = mayBeOwn(columns) && ownColumns(columns).size === 0;
  /** Null if there are none. */
  const faultsIn = (values: readonly string[], { read, put }: Uses): MessageError[] | null => {
    let faults: MessageError[] | null = null;
    for (const index of read) {
      const error = faultOf(values[index] ?? '', isUncertain, put !== read && !put.includes(index));
      if (error === null) continue;
      faults ??= [];
      faults.push({ column: columns[index] ?? '', error });
    }
    return faults;
  };
  const composeAs = (bound: typeof fields, values: readonly string[]) => {
    const faults = faultsIn(values, usesIn?.(values) ?? always);
    if (faults !== null) return faults;
    const rendered = bound.map(([field, template]): [Field, string] => [field, template.render(values)]);
    const empty = usesIn && rendered.find(([, text], at) => bound[at]?.[1].isConditional && isBlank(text));
    if (empty !== undefined) return [emptyField(empty[0])];
    const message = channel === 'sms' ? composeSms(rendered, gsm) : composeEmail(rendered);
    return 'error' in message ? [message] : message;
  };
  let written: typeof fields | undefined;
  // A row is asked for its changes, then composed.
  let last: readonly string[] = [];
  let lastClean = last;
  const clean = (values: readonly string[]) => {
    if (last !== values) lastClean = cleanValues(values, used);
    last = values;
    return lastClean;
  };
  const composer: Composer = {
    columns: used,
    usesIn,
    compose: (values) => composeAs(fields, clean(values)),
    reading: readingOf(fieldsOf(channel, templates), { used, usesIn, clean }, (texts, values) => {
      written ??= texts === null ? fields : bind(texts, columns);
      // With --gsm, the message is another one on purpose.
      const message = gsm ? [] : composeAs(written, values);
      return Array.isArray(message) ? null : message.tail;
    }),
  };
  if (used.length === 0) {
    const message = composer.compose([]);
    const error = Array.isArray(message) ? message[0] : undefined;
    if (error !== undefined) {
      throw new InputError('template', error.column, error.error, 'Every recipient would get this message.');
    }
  }
  return composer;
}

const bind = (templates: readonly [Field, Template][], columns: readonly string[]) =>
  templates.map(([field, template]): [Field, BoundTemplate] => [
    field,
    bindTemplate(template, columns, contentOf(field)),
  ]);

function usesOf(templates: readonly [Field, BoundTemplate][], values: readonly string[]): Uses {
  const all = templates.flatMap(([, template]) => template.fieldsIn(values));
  type Each = (typeof all)[number];
  const isFallback = ({ column, fallback }: Each) => fallback !== null && isBlank(values[column]);
  const columnsOf = (some: readonly Each[]) => [...new Set(some.map(({ column }) => column))];
  return {
    read: columnsOf(all),
    put: columnsOf(all.filter((each) => each.kind === 'value' && !isFallback(each))),
    fallbacks: columnsOf(all.filter(isFallback)),
  };
}

const noRepairs: readonly RepairKind[] = [];

interface Reader {
  used: readonly number[];
  usesIn: Composer['usesIn'];
  clean(values: readonly string[]): readonly string[];
}

/** `tailOf` composes values as they are written; null stands for texts that are what they were. */
function readingOf(
  texts: readonly [Field, string][],
  { used, usesIn, clean }: Reader,
  tailOf: (texts: [Field, Template][] | null, values: readonly string[]) => string | null,
): Reading {
  const isNew = texts.some(([field, text]) => cleanField(field, text) !== text);
  const ofTexts = texts.some(([, text]) => composed(text) !== text) ? ['decomposed' as const] : noRepairs;
  return {
    isConstant: used.length === 0 && !isNew,
    changesIn(values) {
      const read = clean(values);
      if (read === values) return isNew ? ofTexts : null;
      const put = usesIn?.(values).put ?? used;
      if (put.every((index) => read[index] === values[index])) return isNew ? ofTexts : null;
      const differs = (repair: (value: string) => string) =>
        put.some((index) => repair(values[index] ?? '') !== (values[index] ?? ''));
      const others = ofTexts.length === 0 && differs(composed) ? (['decomposed'] as const) : ofTexts;
      return differs(trimmed) ? ['blanks', ...others] : others;
    },
    earlierTail: (values) =>
      tailOf(isNew ? texts.map(([field, text]) => [field, parse(field, text)]) : null, values),
  };
}

/** Why a cell cannot be put into a message. `isUncertain`: the file may be a report whose columns were removed. */
function faultOf(value: string, isUncertain: boolean, isOptional: boolean): string | null {
  if (isBlank(value)) return isOptional ? null : 'is empty, but the message uses it';
  if (isErrorValue(value)) return errorValue(value.trim());
  if (isUncertain && unguard(value) !== value)
    return `${quoted(value)} begins with ' and a sign, as in a report: remove the ', or restore the report's columns`;
  return null;
}

function composeSms(rendered: [Field, string][], gsm: boolean): ComposedMessage | MessageError {
  const written = rendered[0]?.[1] ?? '';
  const text = gsm ? toGsm(written) : written;
  const { kind, parts, units } = measureText(text);
  if (parts === 0) return { column: 'text', error: 'the text is empty' };
  if (parts > maxParts) {
    return {
      column: 'text',
      error: `the text has ${parts} parts (${units} ${kind} characters); the limit is ${maxParts}`,
    };
  }
  return { tail: tailOf([['text', text]]), kind, parts, isReplaced: text !== written };
}

function composeEmail(rendered: [Field, string][]): ComposedMessage | MessageError {
  for (const each of rendered) {
    // Repaired as a recipient is.
    if (each[0] === 'reply_to' && normalizeAddress(each[1]) === null) each[1] = repairAddress(each[1]).value;
    const [field, value] = each;
    const error = errorOf(field, value);
    if (error !== null) return { column: field.replace('_', '-'), error };
  }
  const bodies = rendered.filter(([field]) => field === 'html' || field === 'text');
  const bytes = bodies.reduce((sum, [, body]) => sum + Buffer.byteLength(body), 0);
  const column = bodies[0]?.[0] ?? 'text';
  if (bytes === 0) return { column, error: 'the body is empty' };
  if (bytes > maxEmailBodyBytes) {
    return { column, error: `html and text have ${bytes} bytes together; the limit is ${maxEmailBodyBytes}` };
  }
  const tail = tailOf(rendered);
  const encoded = Buffer.byteLength(tail) + recipientReserve;
  if (encoded > maxRequestBytes) {
    return { column, error: `the request would have ${encoded} bytes; the limit is ${maxRequestBytes}` };
  }
  return { tail, kind: 'email', parts: 0, bytes };
}

function emptyField(field: Field): MessageError {
  const column = field.replace('_', '-');
  return { column, error: `the ${column} is empty` };
}

function errorOf(field: Field, value: string): string | null {
  if (field === 'html' || field === 'text') return null;
  if (value.trim() === '') return emptyField(field).error;
  if (!isOneLine(value)) return `the ${field.replace('_', '-')} has a line break or a control character`;
  const limit = field === 'subject' ? maxSubjectLength : field === 'from_name' ? maxSenderNameLength : null;
  if (limit !== null && value.length > limit && characters(value) > limit)
    return `the ${field.replace('_', '-')} has ${characters(value)} characters; the limit is ${limit}`;
  if (field === 'reply_to' && normalizeAddress(value) === null)
    return `${quoted(value)} is not an email address`;
  return null;
}

function tailOf(rendered: [Field, string][]): string {
  return `${rendered.map(([field, value]) => `"${field}":${JSON.stringify(value)}`).join(',')}}`;
}
