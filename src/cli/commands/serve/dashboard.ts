import type { Command } from 'commander';
import { isLoopback, parseUrl } from '../../../contract/index.js';
import { usageError } from '../../errors.js';
import { hostInUrl } from './listen-error.js';
import type { AddressOptions } from './listeners.js';

export interface DashboardOptions {
  dashboard?: boolean;
  publicUrl?: string;
}

export function addDashboardOptions(command: Command): void {
  command
    .option('--dashboard', 'serve the dashboard to other machines too; see urtuu dashboard')
    .option('--no-dashboard', 'serve no dashboard')
    .option('--public-url <url>', 'where people open the dashboard, such as https://sms.example.mn');
}

/** The dashboard to serve; empty for none. Throws CliError (exit 2) for one that nobody could sign in to. */
export function dashboardOf({
  dashboard,
  publicUrl,
  host,
  tlsCert,
}: DashboardOptions & Pick<AddressOptions, 'host' | 'tlsCert'>): {
  dashboard?: { publicUrl: string | null };
} {
  const name = hostInUrl(host).toLowerCase();
  const isHere = isLoopback(name);
  if (publicUrl !== undefined) checkPublicUrl(publicUrl);
  if (!(dashboard ?? isHere)) {
    if (publicUrl === undefined) return {};
    throw usageError('--public-url is for the dashboard, which is off', 'Add --dashboard.');
  }
  if (publicUrl === undefined && tlsCert === undefined && !isHere && name !== '0.0.0.0' && name !== '[::]') {
    throw usageError(
      `the dashboard on ${host} needs --public-url`,
      'Browsers keep its sessions only over https: --public-url https://sms.example.mn',
    );
  }
  return { dashboard: { publicUrl: publicUrl ?? null } };
}

function checkPublicUrl(given: string): void {
  const url = parseUrl(given);
  const isOrigin = url !== null && `${url.origin}/` === url.href;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (isOrigin && isSafe) return;
  throw usageError(
    `--public-url ${given} cannot be used`,
    'Write it as https://sms.example.mn, without a path.',
  );
}
