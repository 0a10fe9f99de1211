import { measureText, normalNumber } from '../../../contract/index.js';
import type { Submission } from '../carrier.js';
import type { GatewayRoute } from './gateway-route.js';
import { fillIn, fillJson, type Values } from './placeholders.js';

/** A request as it is sent. */
export interface RenderedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
}

/**
 * Values are encoded for their place after the template was parsed, so a text cannot become a parameter, a header or
 * JSON.
 */
export function renderRequest(
  route: GatewayRoute,
  submission: Pick<Submission, 'reference' | 'to' | 'text'>,
): RenderedRequest {
  const { template, repeats } = route;
  const values = valuesOf(route, submission);
  // The same for every attempt.
  const headers =
    repeats === null ? route.headers : { ...route.headers, [repeats.header]: submission.reference };
  const common = { method: route.method, url: route.url.href };
  if ('json' in template) {
    const body = JSON.stringify(fillJson(template.json, values));
    return { ...common, headers: { 'Content-Type': 'application/json', ...headers }, body };
  }
  const fields = Object.entries(template.form).map(([name, text]): [string, string] => [
    name,
    fillIn(text, values),
  ]);
  const encoded = new URLSearchParams(fields).toString();
  if (template.in === 'body') {
    const type = 'application/x-www-form-urlencoded';
    return { ...common, headers: { 'Content-Type': type, ...headers }, body: encoded };
  }
  const url = new URL(route.url);
  url.search = [url.search.slice(1), encoded].filter(Boolean).join('&');
  return { ...common, url: url.href, headers, body: null };
}

function valuesOf(
  { numberForm, receiptUrl }: GatewayRoute,
  { reference, to, text }: Pick<Submission, 'reference' | 'to' | 'text'>,
): Values {
  const written = text ?? '';
  // Computed only when used: few requests need it.
  return {
    number: writtenNumber(to, numberForm),
    text: written,
    id: reference,
    get parts() {
      return String(measureText(written).parts);
    },
    get unicode() {
      return isLatin(written) ? '0' : '1';
    },
    // Kannel's values: 7-bit, or UCS-2.
    get coding() {
      return isLatin(written) ? '0' : '2';
    },
    // Vonage's values.
    get type() {
      return isLatin(written) ? 'text' : 'unicode';
    },
    receipt_url: receiptUrl,
  };
}

const isLatin = (text: string): boolean => measureText(text).kind === 'latin';

function writtenNumber(to: string, form: GatewayRoute['numberForm']): string {
  if (form === 'national' || normalNumber(to) === null) return to;
  return form === 'e164' ? `+976${to}` : `976${to}`;
}
