/** What an answer has to be to fall into a row of the table: a status, and values at a path or a text. */
export interface AnswerRule {
  status: readonly number[] | null;
  /** A path into a JSON or form answer, with the values that fit. */
  field: { path: string; is: readonly string[] } | null;
  /** Of the start of a text answer. */
  match: RegExp | null;
}

/** A place in an answer with the ids that receipts will name. */
export type IdRule = { path: string } | { match: RegExp };

/** Of Twilio: what it signs with, and the address that it was given. */
export interface Signature {
  key: string;
  url: string;
}

export interface ReceiptFields {
  /** The gateway's id of the message. */
  id: string | null;
  /** Our own id of it. */
  reference: string | null;
  to: string | null;
  state: string;
  delivered: readonly string[];
  undelivered: readonly string[];
  token: string;
  signature: Signature | null;
}

/** What tells that an account is good, without a message. */
export interface GatewayCheck {
  url: URL;
  status: readonly number[];
  proxy: URL | null;
}

export interface IncomingFields {
  /** The same for a message that comes again. */
  id: string;
  from: string;
  to: string;
  text: string;
  token: string;
  signature: Signature | null;
}

/** A secret: nothing in it is a placeholder. */
export class Literal {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

/** A text with placeholders, or a secret. */
export type TextTemplate = string | Literal;

/** Values of JSON whose strings may hold placeholders. */
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
  /** The way to it; null for none. */
  proxy: URL | null;
  /** Null: a connection is all that can be checked. */
  check: GatewayCheck | null;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  template: RequestTemplate;
  accepted: AnswerRule;
  id: IdRule | null;
  /** Null: the statuses of every gateway. */
  refused: AnswerRule | null;
  unknownRecipient: AnswerRule | null;
  later: AnswerRule | null;
  account: AnswerRule | null;
  /**
   * The header with the key under which a gateway takes a request once, however often it comes, and for how long it knows
   * one; null where it takes each.
   */
  repeats: { header: string; forMs: number } | null;
  /** What its requests on our paths hold: paths into a form or JSON. */
  receipts: ReceiptFields | null;
  incoming: IncomingFields | null;
  /** Where receipts of its messages go; empty where its requests name none. */
  receiptUrl: string;
  /** Requests under way, of one instance. */
  concurrent: number;
  /** Requests a second, over all instances. */
  perSecond: number;
  timeoutMs: number;
  numberForm: 'international' | 'national' | 'e164';
  /** Values that no log shows. */
  secrets: readonly string[];
  prefixes: readonly string[];
  fallback: readonly string[];
  inboxProject: string | null;
  links: boolean;
}

export const isGateway = (route: object): route is GatewayRoute => 'template' in route;
