import { isIP } from 'node:net';
import { InvalidArgumentError } from 'commander';
import { defaultHost, isLoopback } from '../../../contract/index.js';
import type { Listening, Network, SeenRequest, ServedListening, Service } from '../../../service/index.js';
import type { Context } from '../../context.js';
import { CliError, usageError } from '../../errors.js';
import { type CertificateOptions, readCertificate } from './certificate.js';
import { hostInUrl, listenError } from './listen-error.js';

export interface AddressOptions extends CertificateOptions {
  host: string;
  port: number;
  log?: 'requests';
  trustedProxy?: Network[];
  metricsHost: string;
  metricsPort?: number;
}

export interface Listeners {
  main: ServedListening;
  /** The separate listener for metrics; null without one. */
  metrics: Listening | null;
}

export const isLocal = ({ host }: Pick<AddressOptions, 'host'>): boolean =>
  isLoopback(hostInUrl(host).toLowerCase());

/** Whether metrics are reachable at all. */
export const hasMetrics = (options: AddressOptions): boolean =>
  isLocal(options) || options.metricsPort !== undefined;

/** Addresses and networks, such as `10.0.0.0/8,::1`, behind those that were given before. */
export function readNetworks(written: string, before: readonly Network[] = []): Network[] {
  const given = written.split(',').map((each) => {
    const [address = '', bits, ...more] = each.trim().split('/');
    const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
    const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
    if (most === 0 || address.includes('%') || more.length > 0 || !(prefix <= most))
      throw new InvalidArgumentError(`'${each}' is not an address or a network, such as 10.0.0.0/8`);
    return { address, prefix };
  });
  return [...before, ...given];
}

/** Throws CliError (exit 2) for proxies whose word nobody asks for. */
export function checkProxies({ log, trustedProxy }: Pick<AddressOptions, 'log' | 'trustedProxy'>): void {
  if (trustedProxy !== undefined && log === undefined)
    throw usageError('--trusted-proxy does nothing without --log requests', 'Add --log requests.');
}

/** Listens for requests, and for metrics. Throws CliError (exit 13) for an address that cannot be used. */
export async function openListeners(
  { io, clock }: Pick<Context, 'io' | 'clock'>,
  service: Service,
  tls: { cert: string; key: string } | null,
  options: AddressOptions,
  page: { dashboard?: { publicUrl: string | null } },
): Promise<Listeners> {
  const { host, port, log, trustedProxy: proxies = [], metricsHost, metricsPort } = options;
  const logged = (request: SeenRequest) =>
    io.log({
      time: new Date(clock.now()).toISOString(),
      ...request,
      ms: Math.round(request.ms * 1_000) / 1_000,
    });
  const address = { host, port, metrics: isLocal(options), ...page };
  const main = await service
    .listen({
      ...address,
      ...(tls === null ? {} : { tls }),
      ...(log === undefined ? {} : { log: logged, proxies }),
    })
    .catch((error) => {
      throw listenError(host, port, error);
    });
  if (!isLocal(options) && tls === null) io.warn(plainTextWarning(host));
  if (metricsPort === undefined) return { main, metrics: null };
  const metrics = await service.listenForMetrics({ host: metricsHost, port: metricsPort }).catch((error) => {
    throw listenError(metricsHost, metricsPort, error, '--metrics-');
  });
  return { main, metrics };
}

/** Reads the certificate again, for new connections; one that cannot be used changes nothing, with a warning. */
export function renewCertificate(
  { io, config }: Pick<Context, 'io' | 'config'>,
  listening: Pick<Listening, 'renew'>,
  options: CertificateOptions,
): void {
  try {
    const pair = readCertificate(config, options);
    if (pair === null) return;
    listening.renew(pair);
    for (const warning of pair.warnings) io.warn(warning);
    io.note('Read the certificate again.');
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    io.warn(`The certificate stays as it was: ${error.message}`);
  }
}

const plainTextWarning = (host: string) =>
  `Listening on ${host} without TLS: keys, numbers and texts cross the network as plain text. Add --tls-cert and --tls-key, put a TLS proxy in front, or listen on ${defaultHost}.`;
