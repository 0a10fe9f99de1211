import { waitForAddresses } from '../../network/address-timeout.js';
import type { DataError, Fault, OpenedAdministration, Service, ServiceOptions } from '../../service/index.js';
import { CliError, machineError, stateHint } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { ProcessEnvironment } from '../process-environment.js';

const importService = async () => await import('../../service/index.js');

export const loadService = async () => {
  await waitForAddresses();
  return await importService();
};

/** The sandbox connects to nothing. */
export const openerOf = async ({ openService }: ProcessEnvironment, isSandbox = false) =>
  openService ?? (await (isSandbox ? importService() : loadService())).createService;

/** Throws CliError for unusable data, engine or configuration. */
export async function openService(
  environment: ProcessEnvironment,
  options: ServiceOptions,
  isSandbox: boolean,
): Promise<Service> {
  const open = await openerOf(environment, isSandbox);
  return open(options).catch(async (error) => {
    throw await openError(environment, error, options.directory ?? '', isSandbox);
  });
}

/** Throws CliError for unusable data or engine; for a database, its driver's error. */
export async function openAdministration(
  environment: ProcessEnvironment,
  data: { directory: string } | { url: string; schema?: string | undefined; secret: Uint8Array },
  report: (fault: Fault) => void,
): Promise<OpenedAdministration> {
  const open = environment.openAdministration ?? (await loadService()).openAdministration;
  if ('url' in data)
    return open({ database: data.url, databaseSchema: data.schema, secret: data.secret, report });
  return open({ ...data, report }).catch(async (error) => {
    throw await openError(environment, error, data.directory, false);
  });
}

/** The service's functions for data that this process has not opened. */
export type ServiceFiles = Pick<
  Awaited<ReturnType<typeof loadService>>,
  'abandonMove' | 'backup' | 'checkFree' | 'moveData' | 'restore' | 'verify'
>;

/** Throws CliError for unusable data or engine, and if another process has the data open (exit 11). */
export async function useFiles<Result>(
  environment: ProcessEnvironment,
  use: (service: ServiceFiles) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(await loadService());
  } catch (error) {
    const { message, syscall } = error as NodeJS.ErrnoException;
    if (codeOf(error) === 'data_in_use') {
      const hint = 'Stop every process that uses it, then try again. Nothing was changed.';
      throw new CliError('refused', exits.refused, message, { hint, cause: error });
    }
    if (isDataError(error)) throw refusedData(error);
    if (codeOf(error) === 'no_sqlite') throw await openError(environment, error, '', false);
    throw syscall === undefined ? error : machineError(message, error);
  }
}

async function openError(
  environment: ProcessEnvironment,
  error: unknown,
  directory: string,
  isSandbox: boolean,
): Promise<CliError> {
  if (isDataError(error)) return refusedData(error, directory, isSandbox);
  if (codeOf(error) === 'no_sqlite') {
    const { noEngine } = await import('./no-engine.js');
    return noEngine(error, environment);
  }
  const wrong = await configurationError(environment, error);
  if (wrong !== null) return wrong;
  const hint = stateHint(error) ?? 'It needs a folder of your own with free space. See: `urtuu help sandbox`';
  return machineError(`the embedded service cannot run: ${(error as Error).message}`, error, hint);
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

const isDataError = (error: unknown): error is DataError => codeOf(error) === 'data_refused';

function refusedData(error: DataError, folder?: string, isSandbox = false): CliError {
  const { message, hint } = error;
  const forgotten = folder === undefined ? null : error.forgotten;
  const without = isSandbox
    ? ' Or delete the folder: nothing in it was sent to anyone.'
    : ' Or start without them: `urtuu serve --accept-data`';
  return new CliError(error.code, exits.machine, message, {
    hint: forgotten === null ? hint : hint + without,
    details: forgotten === null ? {} : { forgotten },
    cause: error,
  });
}

/** Null for other errors. */
export async function configurationError(
  { script = '' }: ProcessEnvironment,
  error: unknown,
): Promise<CliError | null> {
  const { code, message, cause } = error as NodeJS.ErrnoException;
  if (code !== 'invalid_configuration') return null;
  // The message has the way out.
  if (cause instanceof Error && cause.name === 'UnsafeFileError')
    return new CliError(code, exits.machine, message, { cause: error });
  const { pathOfPage } = await import('../config/installation.js');
  const hint = `Its fields are described in ${pathOfPage(script, 'carriers.md')}`;
  return new CliError(code, exits.machine, message, { hint, cause: error });
}
