import { isNode } from './runtime.js';

/** No connection, so nothing of the request left. */
export interface ConnectFailure {
  /** `ECONNREFUSED` and the like; null when the error has none. */
  code: string | null;
  /** Completes "cannot connect to ...: ". */
  reason: string;
}

/**
 * Why nothing of a request left; null when some of it may have left. Counts only causes that precede the first byte,
 * and only on Node.js: other runtimes repeat requests by themselves and have other error codes.
 */
export function connectFailure(cause: unknown, globals: object = globalThis): ConnectFailure | null {
  if (!isNode(globals)) return null;
  try {
    return readChain(cause);
  } catch {
    // Its fields may be getters that throw.
    return null;
  }
}

/** `ECONNREFUSED` and the like, which fetch puts into the cause of its TypeError. */
export function systemCodeOf(cause: unknown): string | null {
  return chainOf(cause).map(codeOf).find(isCode) ?? null;
}

/** What a fetch says of its proxy, in an error with such a code. */
export const proxyWords = (cause: unknown): string | null => proxyWordsIn(chainOf(cause));

const proxyWordsIn = (chain: readonly Fault[]): string | null =>
  chain.find((each) => codeOf(each)?.startsWith('PROXY_'))?.message ?? null;

interface Fault extends Error {
  code?: unknown;
  syscall?: unknown;
  errors?: unknown;
  requestSent?: unknown;
}

/** Limited, because causes can form a circle. */
function chainOf(cause: unknown): Fault[] {
  const chain: Fault[] = [];
  for (let error = cause; isFault(error) && chain.length < 4; error = error.cause) chain.push(error);
  return chain;
}

/** Errors of other realms, as under Jest and in vm contexts, are not instances of this one's Error. */
const isFault = (value: unknown): value is Fault =>
  value instanceof Error || /^\[object (?:Error|DOMException)\]$/.test(Object.prototype.toString.call(value));

function readChain(cause: unknown): ConnectFailure | null {
  const chain = chainOf(cause);
  // What the fetch says takes precedence: its error code can be the same before and after the first byte.
  if (chain.some(({ requestSent }) => requestSent === true)) return null;
  const isUnsent = chain.some(({ requestSent }) => requestSent === false);
  const fault = chain.find((each) => isCode(codeOf(each)));
  if (!isUnsent && (fault === undefined || !precedesRequest(fault))) return null;
  const code = fault === undefined ? null : codeOf(fault);
  return { code, reason: proxyWordsIn(chain) ?? reasonOf(code) };
}

/** Name resolution, connection and certificate check come before the first byte of a request. */
function precedesRequest(fault: Fault): boolean {
  // One error for each address of the host.
  if (Array.isArray(fault.errors) && fault.errors.length > 0) return fault.errors.every(precedesRequest);
  const { code, syscall } = fault;
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  return typeof code === 'string' && (Object.hasOwn(tlsReasons, code) || code === 'UND_ERR_CONNECT_TIMEOUT');
}

const isCode = (code: unknown): code is string =>
  typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code);
const codeOf = ({ code }: Fault): string | null => (isCode(code) ? code : null);

const selfSigned = 'its certificate is self-signed';
const unknownIssuer = 'its certificate has an unknown issuer';
const handshake = 'the TLS handshake failed';

/** TLS errors that Node.js raises before it sends any data. */
const tlsReasons: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain ends in an untrusted self-signed certificate',
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  CERT_UNTRUSTED: unknownIssuer,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_REVOKED: 'its certificate was revoked',
  CERT_CHAIN_TOO_LONG: 'its certificate chain is too long',
  CERT_REJECTED: 'its certificate was rejected',
  CERT_SIGNATURE_FAILURE: 'the signature of its certificate is wrong',
  INVALID_CA: 'its certificate is from an invalid issuer',
  INVALID_PURPOSE: 'its certificate is not for servers',
  HOSTNAME_MISMATCH: 'its certificate is for another host',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; is the address plain http?',
  ERR_SSL_UNSUPPORTED_PROTOCOL: handshake,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: handshake,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: handshake,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'it does not know the host name',
};

const reasons: Readonly<Record<string, string>> = {
  ...tlsReasons,
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the host name cannot be resolved',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the host',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  EPROTO: handshake,
  NO_FETCH: 'there is no global fetch here; pass one as the option fetch',
};

function reasonOf(code: string | null): string {
  return code !== null && Object.hasOwn(reasons, code) ? (reasons[code] as string) : 'the connection failed';
}
