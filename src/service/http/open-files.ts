import { readFileSync } from 'node:fs';
import { defaultBounds } from './connections.js';

/** Of the files that a process may open, what connections may take: the others are data, carriers, and newcomers who get a 503. */
const share = 0.75;

/** How many files this process may open; null where there is no limit, or none is known. */
export function openFilesLimit(readLimits = () => readFileSync('/proc/self/limits', 'utf8')): number | null {
  return known(softLimit(readLimits));
}

function softLimit(readLimits: () => string): string | number | undefined {
  try {
    return /^Max open files +(\S+)/m.exec(readLimits())?.[1];
  } catch {
    // Not Linux. Windows has no such limit, and names none.
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
