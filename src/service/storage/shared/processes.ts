import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Identifies the process that holds a lease, so that its leases end at once when it is gone, not only when they
 * expire. A wrong answer costs work but no message: the mark is the fence, not the lease.
 */
export function thisProcess(): string {
  known ??= `${machine()}.${process.pid}.${startOf(process.pid) ?? ''}.${release}`;
  return known;
}

let known: string | undefined;

/** A trigger refuses leases of processes of earlier releases, which have none. */
const release = 2;

/** True only for a process of this machine that has ended. */
export function isGone(holder: string): boolean {
  const [where, pid, start] = holder.split('.');
  const [here] = thisProcess().split('.');
  if (where !== here || !Number(pid)) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const now = startOf(Number(pid));
  return now !== null && start !== '' && now !== start;
}

/** The same in processes that see each other's ids: one boot, and one namespace of a container. */
function machine(): string {
  const parts = [process.platform, hostname()];
  try {
    parts.push(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'), readlinkSync('/proc/self/ns/pid'));
  } catch {
    // Not Linux.
  }
  return createHash('sha256').update(parts.join(' ')).digest('base64url').slice(0, 8);
}

/** When a process started, in ticks since boot; null if that cannot be read. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in brackets, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'ended' : (fields[19] ?? null);
  } catch {
    return null;
  }
}
