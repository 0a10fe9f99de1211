import { readFileSync } from 'node:fs';
import { defaultBounds } from './connections.js';

/**
 * The share of a process's open files that connections may use: the rest are data, carriers, and connections that get
 * a 503.
 */
const share = 0.75;

/** How many files this process may open; null if the limit is unknown or there is none. */
export function openFilesLimit(readLimits = () => readFileSync('/proc/self/limits', 'utf8')): number | null {
  return known(softLimit(readLimits));
}

function softLimit(readLimits: () => string): string | number | undefined {
  try {
    return /^Max open files +(\S+)/m.exec(readLimits())?.[1];
  } catch {
    // Not Linux. Windows has no such limit.
    const { userLimits } = process.report.getReport() as {
      userLimits?: { open_files?: { soft?: string | number } };
    };
    return userLimits?.open_files?.soft;
  }
}

const known = (limit: string | number | undefined): number | null =>
  Number.isInteger(Number(limit)) ? Number(limit) : null;

export const connectionsWithin = (limit: number | null): number =>
  limit === null
    ? defaultBounds.connections
    : Math.min(defaultBounds.connections, Math.max(1, Math.floor(limit * share)));
