import {
  type Channel,
  maxEmailBodyBytes,
  maxParts,
  maxRequestBytes,
  maxSubjectLength,
  measureText,
  normalizeAddress,
  type TextKind,
} from '../../../contract/index.js';
import { InputError, shown } from '../input/input-error.js';
import { type BoundTemplate, bindTemplate, parseTemplate, type Template } from './template.js';

/** The parts of a message as templates; which of them are needed depends on the channel. */
export interface MessageTemplates {
  text?: string | undefined;
  subject?: string | undefined;
  html?: string | undefined;
  fromName?: string | undefined;
  replyTo?: string | undefined;
}

export interface ComposedMessage {
  /** The fields after `to` as JSON, from the first field's name to the closing brace. */
  tail: string;
  kind: TextKind | 'email';
  /** SMS parts; 0 for an email. */
  parts: number;
}

/** What is wrong with a message of one row, and in which option or column. */
export interface MessageFault {
  column: string;
  error: string;
}

export interface Composer {
  /** Indexes of the columns that any template uses; empty for a constant message. */
  columns: readonly number[];
  compose(values: readonly string[]): ComposedMessage | MessageFault[];
}

/** Room in a request body for `to` and one recipient. */
const recipientReserve = 1_000;

type Field = 'subject' | 'html' | 'text' | 'from_name' | 'reply_to';

/** Reads the templates, before any row is read; fields come in the order of the request body. */
export function parseTemplates(channel: Channel, templates: MessageTemplates): [Field, Template][] {
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
  return written.flatMap(([field, text]) =>
    text === undefined ? [] : [[field, parseTemplate(text, field.replace('_', '-'))]],
  );
}

/** Binds the templates to the input's columns. A constant message that breaks a rule is an error at once. */
export function bindMessage(
  channel: Channel,
  templates: readonly [Field, Template][],
  columns: readonly string[],
): Composer {
  const fields = templates.map(([field, template]): [Field, BoundTemplate] => [
    field,
    bindTemplate(template, columns, field === 'html' ? 'html' : 'plain'),
  ]);
  const used = [...new Set(fields.flatMap(([, template]) => template.columns))];
  const composer: Composer = {
    columns: used,
    compose(values) {
      const empty = used.filter((column) => (values[column] ?? '').trim() === '');
      if (empty.length > 0) {
        return empty.map((column) => ({
          column: columns[column] ?? '',
          error: 'is empty, and the message needs it',
        }));
      }
      const rendered = fields.map(([field, template]): [Field, string] => [field, template.render(values)]);
      const message = channel === 'sms' ? composeSms(rendered) : composeEmail(rendered);
      return 'error' in message ? [message] : message;
    },
  };
  if (used.length === 0) {
    const message = composer.compose([]);
    const fault = Array.isArray(message) ? message[0] : undefined;
    if (fault !== undefined) {
      throw new InputError('template', fault.column, fault.error, 'the same message goes to every row');
    }
  }
  return composer;
}

function composeSms(rendered: [Field, string][]): ComposedMessage | MessageFault {
  const text = rendered[0]?.[1] ?? '';
  const { kind, parts, units } = measureText(text);
  if (parts === 0) return { column: 'text', error: 'the text is empty' };
  if (parts > maxParts) {
    return {
      column: 'text',
      error: `the text has ${parts} parts (${units} ${kind} characters); the most is ${maxParts}`,
    };
  }
  return { tail: tailOf(rendered), kind, parts };
}

function composeEmail(rendered: [Field, string][]): ComposedMessage | MessageFault {
  for (const [field, value] of rendered) {
    const error = faultOf(field, value);
    if (error !== null) return { column: field.replace('_', '-'), error };
  }
  const bodies = rendered.filter(([field]) => field === 'html' || field === 'text');
  const bytes = bodies.reduce((sum, [, body]) => sum + Buffer.byteLength(body), 0);
  const column = bodies[0]?.[0] ?? 'text';
  if (bytes === 0) return { column, error: 'the body is empty' };
  if (bytes > maxEmailBodyBytes) {
    return { column, error: `html and text have ${bytes} bytes together; the most is ${maxEmailBodyBytes}` };
  }
  const tail = tailOf(rendered);
  const encoded = Buffer.byteLength(tail) + recipientReserve;
  if (encoded > maxRequestBytes) {
    return { column, error: `the request would have ${encoded} bytes; the most is ${maxRequestBytes}` };
  }
  return { tail, kind: 'email', parts: 0 };
}

function faultOf(field: Field, value: string): string | null {
  if (field === 'html' || field === 'text') return null;
  if (value.trim() === '') return `the ${field.replace('_', '-')} is empty`;
  if (/[\r\n\u0085\u2028\u2029]/.test(value)) return `the ${field.replace('_', '-')} is more than one line`;
  if (field === 'subject' && value.length > maxSubjectLength) {
    return `the subject has ${value.length} characters; the most is ${maxSubjectLength}`;
  }
  if (field === 'reply_to' && normalizeAddress(value) === null) return `${shown(value)} is no email address`;
  return null;
}

function tailOf(rendered: [Field, string][]): string {
  return `${rendered.map(([field, value]) => `"${field}":${JSON.stringify(value)}`).join(',')}}`;
}
