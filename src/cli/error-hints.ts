import { type ErrorCode, recipientCaps } from '../contract/index.js';
import { duration } from './text/wording.js';

/** Hints for failed requests, with commands in backticks. */
export const hints: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "Fix that value; see the command's --help.",
  forbidden: "Use a key with this scope. The service's owner can create one.",
  unauthorized: 'Check the key with: `urtuu doctor`; or sign in again with: `urtuu login`',
  insufficient_credits: 'Nothing was sent. Add credits, then run it again; see: `urtuu balance`',
  not_found: 'Check the id, and that the API key belongs to its project.',
  method_not_allowed: 'The base URL may belong to another service; see: `urtuu doctor`',
  verification_closed: "If its status is verified, you're done. Otherwise, create a new verification.",
  cursor_expired:
    'Events may have been missed. Begin with --from start, then look them up: `urtuu messages list`',
  request_too_large: 'A request can have at most 1 MB; send less at once.',
  unsupported_media_type: 'The base URL may belong to another service; see: `urtuu doctor`',
  unsupported_number: 'Nothing was sent. Use an 8-digit mobile number of a Mongolian operator.',
  message_too_long:
    'Nothing was sent. An SMS can have up to 5 parts (750 Latin or 300 Cyrillic characters), an email 256 KB.',
  recipient_suppressed:
    "Nothing was sent. The service's owner can see the list with: `urtuu service suppressions list`",
  invalid_code: 'Ask for the code again; the number of attempts is limited.',
  rate_limited: 'Wait and run it again; nothing is in doubt.',
  recipient_rate_limited:
    'Nothing was sent. Wait, or raise the cap in the dashboard under Settings, Sending.',
  provider_failed: "It wasn't sent or charged. To send it again, use a new idempotency key.",
  unavailable: 'Wait and run it again.',
  timeout: 'Allow more time with --timeout, or check the connection with: `urtuu doctor`',
  connection_error: 'Check the base URL and the connection with: `urtuu doctor`',
  unexpected_response: 'A proxy may have answered, or the base URL is wrong; see: `urtuu doctor`',
};

/** The base URL should end at its version, whatever was appended. */
export const unknownRouteHint = (baseUrl: string) =>
  `Check the path, and that the base URL ends in the version: ${baseUrl.replace(/(?<!\/)\/v\d+(\/.*)?$/, '')}/v1`;

// For a service on this machine, whose owner may be reading this.
export const ownKeyHint =
  "Use a key with this scope. The service's owner can create one with: `urtuu keys create`";

// For the embedded service, whose owner can fix it at once.
export const sandboxCreditHint = 'Add credits with: `urtuu sandbox credit 5000`';

const [short, long] = recipientCaps;

/** `retryAfter`, in seconds, shows which cap it was. */
export function sandboxCapHint(retryAfter: number | null): string {
  const [name, most] =
    (retryAfter ?? 0) > short.windowSeconds
      ? ['caps.per_24_hours', long.maxMessages]
      : ['caps.per_10_minutes', short.maxMessages];
  const wait = retryAfter === null ? 'Wait' : `Wait ${duration(retryAfter)}`;
  return `Nothing was sent. ${wait}, or raise the cap: \`urtuu sandbox settings set ${name} ${most}\``;
}

const trust = 'If you trust it, save its CA certificate and set NODE_EXTRA_CA_CERTS to that file.';
const wrongHost = 'Check the base URL: the certificate is for another host.';
const proxy = 'Check HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY.';
const noTls = 'Check the base URL: an https address needs a service that speaks TLS.';

const mayUse = 'You must own its files and their folder.';

/** Hints for unusable data files, by SQLite's primary result code. */
export const hintsBySqlite: Readonly<Record<number, string>> = {
  8: mayUse,
  10: 'The disk failed to read or write. Check it, then try again.',
  11: 'See: `urtuu service verify`',
  13: 'Make room on the disk.',
  14: mayUse,
};

/** Hints for failed connections, by Node.js's error code. */
export const hintsByErrno: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens there. Check the base URL and its port.',
  ENOTFOUND: 'The host does not exist. Check the base URL.',
  EAI_AGAIN: 'Check the network and its name server, then run it again.',
  PROXY_REFUSED: proxy,
  PROXY_UNREACHABLE: proxy,
  PROXY_SILENT: proxy,
  PROXY_LOGIN: 'Put them in its address: http://name:password@proxy.example.mn:3128',
  DEPTH_ZERO_SELF_SIGNED_CERT: trust,
  SELF_SIGNED_CERT_IN_CHAIN: trust,
  UNABLE_TO_GET_ISSUER_CERT: trust,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
  CERT_UNTRUSTED: trust,
  CERT_HAS_EXPIRED: 'The service needs a new certificate. If it has one, check the clock of this machine.',
  CERT_NOT_YET_VALID: 'Check the clock of this machine.',
  HOSTNAME_MISMATCH: wrongHost,
  ERR_TLS_CERT_ALTNAME_INVALID: wrongHost,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  EPROTO: noTls,
};
