import { resolve } from 'node:path';
import type { Config } from '../../config/config.js';
import { hasPassword, urlProblem, withoutPassword } from '../../config/database-url.js';
import { CliError, machineError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { readFileOf } from './secret-file.js';

/** A PostgreSQL database, and the secret of its installation. */
export interface DatabaseAccess {
  url: string;
  /** From URTUU_DATABASE_SCHEMA. */
  schema?: string | undefined;
  secret: Uint8Array;
  /** Others can read the secret; null if not. */
  warning: string | null;
}

const secretLength = 32;
const secretHint =
  "Make one, and give the same to every instance: node -e \"fs.writeFileSync('urtuu.secret', crypto.randomBytes(32), { mode: 0o600, flag: 'wx' })\"";

/** From --database or URTUU_DATABASE; null for a folder of files. Throws CliError for anything unusable. */
export function databaseAccess(
  config: Pick<Config, 'env' | 'cwd'>,
  { database, data }: { database?: string; data?: string },
): DatabaseAccess | null {
  if (database !== undefined && data !== undefined)
    throw usageError('--data and --database cannot be combined', 'Give one of them.');
  const url = databaseUrl(config, { ...(database === undefined ? {} : { database }), data });
  return url === null ? null : { url, schema: databaseSchema(config), ...readSecret(config) };
}

/** The same without its secret. */
export function databaseUrl(
  config: Pick<Config, 'env'>,
  { database, data }: { database?: string; data?: string | undefined },
): string | null {
  const url = database ?? (data === undefined ? config.env.URTUU_DATABASE?.trim() || undefined : undefined);
  if (url === undefined) return null;
  // Nothing of an address that is read in another way is shown: it may be a part of the password.
  const [problem, hint] = urlProblem(url) ?? [];
  if (problem !== undefined)
    throw usageError(`${database === undefined ? 'URTUU_DATABASE' : '--database'} ${problem}`, hint);
  if (database !== undefined && hasPassword(database)) {
    throw usageError(
      '--database contains a password, which shows in the process list',
      'Set URTUU_DATABASE or PGPASSWORD, or use a pgpass file.',
    );
  }
  return url;
}

/** The schema of the service, from URTUU_DATABASE_SCHEMA; undefined without it. */
export function databaseSchema({ env }: Pick<Config, 'env'>): string | undefined {
  const name = env.URTUU_DATABASE_SCHEMA || undefined;
  // PostgreSQL would shorten a longer one.
  if (
    name === undefined ||
    (/^(?!pg_|information_schema$)[\p{L}_][\p{L}\p{N}_$-]*$/u.test(name) && Buffer.byteLength(name) < 64)
  )
    return name;
  throw usageError(
    'URTUU_DATABASE_SCHEMA is not the name of a schema',
    'Write it as PostgreSQL lists it: urtuu.',
  );
}

function readSecret({ env, cwd }: Pick<Config, 'env' | 'cwd'>): Pick<DatabaseAccess, 'secret' | 'warning'> {
  const name = env.URTUU_SECRET_FILE || undefined;
  if (name === undefined)
    throw usageError('a database needs a secret; URTUU_SECRET_FILE is not set', secretHint);
  const path = resolve(cwd, name);
  const { bytes, warning } = readFileOf('secret', path, 'the secret in ', secretHint);
  if (bytes.length === secretLength) return { secret: bytes, warning };
  const text = bytes.toString('latin1').trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return { secret: Buffer.from(text, 'hex'), warning };
  throw usageError(`${path} is not a secret: it must have 32 bytes or 64 hex digits`, secretHint);
}

/** The error to print for a failure while the database was opened. */
export function databaseError(url: string, error: unknown): CliError {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_INVALID_URL' || name === 'URIError') {
    return usageError('the URL of the database cannot be read', 'Write a % of the password as %25.');
  }
  const [words, hint = (error as { hint?: string }).hint ?? hintOf(code)] = inOwnWords(code, message);
  const shown = withoutPassword(url);
  if (code === 'no_data') {
    return new CliError('not_found', exits.missing, `no service data in ${shown}`, {
      hint: 'Check the name, or start a service on it: `urtuu serve`',
      cause: error,
    });
  }
  return machineError(`cannot use ${shown}: ${words}`, error, hint);
}

const passwordHint = 'Set the password in PGPASSWORD, URTUU_DATABASE or a pgpass file with mode 0600.';
const authorityHint =
  'Add the certificate of its authority to the URL, as a PEM file: sslmode=verify-full&sslrootcert=/etc/urtuu/database.pem';

/** Failures that the driver, TLS and poolers describe in their own terms. */
function inOwnWords(code = '', message: string): [words: string, hint?: string] {
  if (/^SASL: .*client password must be a/.test(message)) return ['it wants a password', passwordHint];
  if (message === 'The server does not support SSL connections')
    return [
      'the server has no TLS',
      'Turn it on there (ssl = on); or write sslmode=disable: passwords and texts then cross the network as plain text.',
    ];
  if (
    /^(?:28000|08P01)$/.test(code) &&
    /no encryption|SSL off|SSL (?:connection is )?required|is insecure/.test(message)
  )
    return [message, 'The server wants TLS. Add to the URL: sslmode=verify-full'];
  if (/SELF_SIGNED|^UNABLE_TO_(?:GET|VERIFY)|^CERT_(?:UNTRUSTED|SIGNATURE)/.test(code))
    return [`its certificate cannot be checked: ${message}`, authorityHint];
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return ['its certificate is for another name', 'Connect with a name in the certificate.'];
  if (/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/.test(code))
    return [message, 'Renew the certificate of the server, and check the clocks.'];
  return [message];
}

function hintOf(code = ''): string {
  if (code === '28P01' || code === '28000') return `Check the user. ${passwordHint}`;
  if (code === 'ENOENT' || code === 'EACCES')
    return 'Check sslrootcert, sslcert and sslkey in the URL, and the permissions of these files.';
  if (code.startsWith('ERR_OSSL') || code.startsWith('ERR_SSL'))
    return "Check that the port is PostgreSQL's, and that sslrootcert, sslcert and sslkey are in PEM.";
  if (code === '3D000') return 'Create the database first.';
  if (code === '42501') return 'The user must own the database, or be allowed to create tables in it.';
  if (code === '25006')
    return 'Allow writes: see default_transaction_read_only of the server, the database and the role.';
  return 'Check that PostgreSQL runs and can be reached from here.';
}
