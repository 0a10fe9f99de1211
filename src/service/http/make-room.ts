import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a connection waits for. */
export interface Waiting {
  /** The address of its client; of IPv6 the network, since a client has all of it. */
  client: string;
  /** When it was opened, answered last, or got a request while it was idle. */
  since: number;
  /** Unwritten responses, including those to requests that are still arriving. */
  pending: Set<ServerResponse>;
  latest: ServerResponse | null;
}

/** Milliseconds that a client has to read an answer before its connection may have to make room. */
const timeToRead = 3_000;

/**
 * The connection to close for a newcomer: of the client with most connections that wait for their client, the one that
 * waits longest. Null if the service is at work for all of them.
 */
export function longestWaiting<Each extends Pick<Socket, 'writableLength'>>(
  open: ReadonlyMap<Each, Waiting>,
  now: number,
): Each | null {
  const clients = new Map<string, { count: number; longest: Each; since: number }>();
  for (const [socket, connection] of open) {
    if (!isWaiting(socket, connection, now)) continue;
    const { client, since } = connection;
    const found = clients.get(client);
    if (found === undefined) clients.set(client, { count: 1, longest: socket, since });
    else {
      found.count += 1;
      if (since < found.since) Object.assign(found, { longest: socket, since });
    }
  }
  const [most] = [...clients.values()].sort((a, b) => b.count - a.count || a.since - b.since);
  return most?.longest ?? null;
}

/** For a handshake, a request or the rest of its body, or for the reading of an answer. */
function isWaiting(
  { writableLength }: Pick<Socket, 'writableLength'>,
  { pending, latest, since }: Waiting,
  now: number,
): boolean {
  if (pending.size === 0 || (pending.size === 1 && latest?.req.complete === false)) return true;
  return writableLength > 0 && now - since > timeToRead;
}

/** An IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [front, back] = address.split('::').map((part) => part.split(':').filter(Boolean)) as [
    string[],
    string[]?,
  ];
  const zeros = back === undefined ? 0 : 8 - front.length - back.length;
  return [...front, ...Array<string>(zeros).fill('0'), ...(back ?? [])].slice(0, 4).join(':');
}
