import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Config } from '../../config/config.js';
import { machineError, usageError } from '../../errors.js';

export interface CertificateOptions {
  tlsCert?: string;
  tlsKey?: string;
}

/** PEM texts; null without files. Throws CliError for files that cannot be used together. */
export function readCertificate(
  { cwd }: Pick<Config, 'cwd'>,
  { tlsCert, tlsKey }: CertificateOptions,
): { cert: string; key: string } | null {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined)
    throw usageError('--tls-cert and --tls-key belong together', 'Add both, in PEM.');
  const pair = { cert: readPem(resolve(cwd, tlsCert)), key: readPem(resolve(cwd, tlsKey)) };
  try {
    createSecureContext(pair);
  } catch (error) {
    const what = `cannot use ${tlsCert} with ${tlsKey}: ${(error as Error).message}`;
    throw machineError(what, error, 'Give a certificate and its own key, both in PEM, without a passphrase.');
  }
  return pair;
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw machineError(`cannot read ${path}: ${code}`, error, 'Check the name and its permissions.');
  }
}
