import { type CliError, machineError } from '../../errors.js';

const reasons: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EADDRINUSE: ['address in use', 'Stop the other program, or choose another port with --port.'],
  EACCES: ['permission denied', 'Choose another port, from 1024 on, with --port.'],
  EADDRNOTAVAIL: ['not an address of this machine', 'Choose one of its addresses with --host.'],
  ENOTFOUND: ['unknown host', 'Choose an address of this machine with --host.'],
};

/** `prefix` is that of the options: `--metrics-` of `--metrics-port`. */
export function listenError(
  host: string,
  port: number,
  error: NodeJS.ErrnoException,
  prefix = '--',
): CliError {
  const { code = '' } = error;
  const [reason, hint] = reasons[code] ?? [code || error.message, 'Choose others with --host and --port.'];
  const what = `cannot listen on ${hostInUrl(host)}:${port}: ${reason}`;
  return machineError(what, error, hint.replace(/--(?=host|port)/g, prefix));
}

export const hostInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);
