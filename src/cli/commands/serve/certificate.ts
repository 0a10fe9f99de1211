import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Config } from '../../config/config.js';
import { machineError, usageError } from '../../errors.js';
import { readFileOf } from './secret-file.js';

export interface CertificateOptions {
  tlsCert?: string;
  tlsKey?: string;
}

export interface Certificate {
  cert: string;
  key: string;
  /** Of files that others can use. */
  warnings: string[];
}

/** PEM texts; null without files. Throws CliError for files that cannot be used together. */
export function readCertificate(
  { cwd }: Pick<Config, 'cwd'>,
  { tlsCert, tlsKey }: CertificateOptions,
): Certificate | null {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined)
    throw usageError('--tls-cert and --tls-key must be used together', 'Add both, in PEM.');
  const cert = readFileOf('public', resolve(cwd, tlsCert), '', unreadable);
  const key = readFileOf('secret', resolve(cwd, tlsKey), '', unreadable);
  const pair = { cert: cert.bytes.toString('utf8'), key: key.bytes.toString('utf8') };
  try {
    // Node.js takes an empty one for none, and then answers no handshake.
    if (pair.cert === '') throw new Error('the certificate is empty');
    if (pair.key === '') throw new Error('the key is empty');
    createSecureContext(pair);
  } catch (error) {
    const what = `cannot use ${tlsCert} with ${tlsKey}: ${(error as Error).message}`;
    throw machineError(what, error, 'Give a certificate and its own key, both in PEM, without a passphrase.');
  }
  return { ...pair, warnings: [cert, key].flatMap(({ warning }) => warning ?? []) };
}

const unreadable = 'Check the name and its permissions.';
