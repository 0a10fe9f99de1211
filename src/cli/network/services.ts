import type {
  Administration,
  Fault,
  OpenedAdministration,
  Service,
  ServiceOptions,
} from '../../service/index.js';
import type { ProcessEnvironment } from '../process-environment.js';
import { openAdministration, openerOf, openService } from './open-service.js';

export type OpenOptions = Pick<ServiceOptions, 'acceptData' | 'configuration' | 'metrics' | 'sandboxKey'>;
export type DatabaseOptions = { url: string; schema?: string | undefined; secret: Uint8Array } & Pick<
  ServiceOptions,
  'configuration' | 'metrics' | 'sandboxKey'
>;

/** How long a sandbox command waits for queued messages before it ends. */
const idleWithin = 5_000;

const errorsTo = (report: (fault: Fault) => void) => (fault: Fault) => {
  if (fault.level === 'error') report(fault);
};

/** The services in this process, each opened once. */
export class Services {
  readonly #environment: ProcessEnvironment;
  readonly #report: (fault: Fault) => void;
  /** By folder, or URL and schema. */
  readonly #services = new Map<string, Promise<Service>>();
  readonly #administrations = new Map<string, Promise<OpenedAdministration>>();

  constructor(environment: ProcessEnvironment, report: (fault: Fault) => void) {
    this.#environment = environment;
    this.#report = report;
  }

  in(directory: string, isSandbox: boolean, options: OpenOptions): Promise<Service> {
    // The sandbox's operators fail on demand; the result of the command says how.
    const report = isSandbox ? errorsTo(this.#report) : this.#report;
    return this.#once(directory, () =>
      openService(this.#environment, { ...options, directory, report }, isSandbox),
    );
  }

  async on({ url, schema, ...options }: DatabaseOptions): Promise<Service> {
    const open = await openerOf(this.#environment);
    return this.#once(`${url} ${schema}`, () =>
      open({ database: url, databaseSchema: schema, ...options, report: this.#report }),
    );
  }

  async administration(
    data: { directory: string } | Pick<DatabaseOptions, 'url' | 'schema' | 'secret'>,
    report = this.#report,
  ): Promise<Administration> {
    const name = 'url' in data ? `${data.url} ${data.schema}` : data.directory;
    const opened = this.#administrations.get(name) ?? openAdministration(this.#environment, data, report);
    this.#administrations.set(name, opened);
    return (await opened).administration;
  }

  /** `hasWork`: they were used, and finish their work. */
  async close(hasWork: boolean): Promise<void> {
    for (const opened of this.#administrations.values()) await (await opened.catch(() => null))?.close();
    for (const opened of this.#services.values()) {
      const service = await opened.catch(() => null);
      if (service === null) continue;
      if (hasWork)
        await Promise.race([service.administration.idle(), this.#environment.clock.sleep(idleWithin)]);
      await service.close();
    }
  }

  #once(name: string, open: () => Promise<Service>): Promise<Service> {
    const opened = this.#services.get(name) ?? open();
    this.#services.set(name, opened);
    opened.catch(() => this.#services.delete(name));
    return opened;
  }
}
