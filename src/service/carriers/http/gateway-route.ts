/** What an answer must have to match a rule: a status, values at a path, or a text. */
export interface AnswerRule {
  status: readonly number[] | null;
  /** A path in a JSON or form answer, with the values that match. */
  field: { path: string; is: readonly string[] } | null;
  /** Matched against the start of a text answer. */
  match: RegExp | null;
}

/** Where an answer has the ids that receipts will contain. */
export type IdRule = { path: string } | { match: RegExp };

/** How Twilio signs its requests: the key, and the address it was given. */
export interface Signature {
  key: string;
  url: string;
}

export interface ReceiptFields {
  /** The gateway's id of the message. */
  id: string | null;
  /** Our own id of the message. */
  reference: string | null;
  to: string | null;
  state: string;
  /** Its own code of a failure. */
  code: string | null;
  delivered: readonly string[];
  undelivered: readonly string[];
  token: string;
  signature: Signature | null;
}

/** A request that tells whether an account works, without a message. */
export interface GatewayCheck {
  url: URL;
  status: readonly number[];
  proxy: URL | null;
}

export interface IncomingFields {
  /** The same for a message that is repeated. */
  id: string;
  from: string;
  to: string;
  text: string;
  /** Of a part of a longer text: the same in all parts, their number, and its own from 1 on. Null if none comes in parts. */
  reference: string | null;
  total: string | null;
  part: string | null;
  token: string;
  signature: Signature | null;
}

/** A secret: it contains no placeholders. */
export class Literal {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

/** A text with placeholders, or a secret. */
export type TextTemplate = string | Literal;

/** JSON values whose strings may contain placeholders. */
export type JsonTemplate =
  | TextTemplate
  | number
  | boolean
  | null
  | readonly JsonTemplate[]
  | { readonly [name: string]: JsonTemplate };

export type RequestTemplate =
  | { form: Readonly<Record<string, TextTemplate>>; in: 'query' | 'body' }
  | { json: JsonTemplate };

/** An SMS gateway over HTTP, as configured, with its secrets. Times are in milliseconds. */
export interface GatewayRoute {
  name: string;
  url: URL;
  /** The proxy; null for none. */
  proxy: URL | null;
  /** Null if only the connection can be checked. */
  check: GatewayCheck | null;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  template: RequestTemplate;
  accepted: AnswerRule;
  id: IdRule | null;
  /** Null for the usual statuses. */
  refused: AnswerRule | null;
  unknownRecipient: AnswerRule | null;
  later: AnswerRule | null;
  account: AnswerRule | null;
  /** The path of its own code in an answer. */
  code: string | null;
  /**
   * The header with the key under which the gateway accepts a request only once, and how long it remembers the key;
   * null if it accepts every repeat.
   */
  repeats: { header: string; forMs: number } | null;
  /** Where its requests to us have their fields: paths in a form or JSON. */
  receipts: ReceiptFields | null;
  incoming: IncomingFields | null;
  /** The address for receipts of its messages; empty if its requests do not contain one. */
  receiptUrl: string;
  /** Open requests, of one instance. */
  concurrent: number;
  /** Requests a second, of all instances together. */
  perSecond: number;
  timeoutMs: number;
  numberForm: 'international' | 'national' | 'e164';
  /** Values that no log may show. */
  secrets: readonly string[];
  prefixes: readonly string[];
  fallback: readonly string[];
  inboxProject: string | null;
  links: boolean;
}

export const isGateway = (route: object): route is GatewayRoute => 'template' in route;
