import type { DataError, Service, ServiceOptions } from '../../service/index.js';
import { CliError, machineError, stateHint } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { ProcessEnvironment } from '../process-environment.js';

export const loadService = async () => await import('../../service/index.js');

export const openerOf = async ({ openService }: ProcessEnvironment) =>
  openService ?? (await loadService()).createService;

/** Throws CliError for data, an engine or a configuration that cannot be used. */
export async function openService(
  environment: ProcessEnvironment,
  options: ServiceOptions,
  isSandbox: boolean,
): Promise<Service> {
  const open = await openerOf(environment);
  try {
    return await open(options);
  } catch (error) {
    if (isDataError(error)) throw refusedData(error, options.directory ?? '', isSandbox);
    if (codeOf(error) === 'no_sqlite') {
      const { noEngine } = await import('./no-engine.js');
      throw noEngine(error, environment);
    }
    const wrong = configurationError(error);
    if (wrong !== null) throw wrong;
    const hint = stateHint(error) ?? 'It needs a folder of your own with free space. See: urtuu help sandbox';
    throw machineError(`the embedded service cannot run: ${(error as Error).message}`, error, hint);
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

const isDataError = (error: unknown): error is DataError => codeOf(error) === 'data_refused';

function refusedData(error: DataError, folder: string, isSandbox: boolean): CliError {
  const { message, hint, forgotten } = error;
  const without = isSandbox
    ? ' Or delete the folder: nothing in it was sent to anyone.'
    : ` Or start without them: urtuu serve --data '${folder}' --accept-data`;
  return new CliError(error.code, exits.machine, message, {
    hint: forgotten === null ? hint : hint + without,
    details: forgotten === null ? {} : { forgotten },
    cause: error,
  });
}

/** Null for any other error. */
export function configurationError(error: unknown): CliError | null {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'invalid_configuration') return null;
  return new CliError(code, exits.machine, message, { hint: 'See: urtuu serve --help', cause: error });
}
