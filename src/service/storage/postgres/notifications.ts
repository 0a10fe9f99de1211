import { createHmac, randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { deriveKey } from '../../encryption.js';
import type { Topic } from '../changes.js';
import { destroy, newClient } from './database/connection.js';
import type { Connections } from './database/connections.js';
import type { OwnSchema } from './database/own-schema.js';

/** Bytes; PostgreSQL allows 8,000. */
const longestPayload = 7_000;
/** Characters; two topics of one name wake each other's, which look again. */
const nameLength = 16;
/** Milliseconds between notifications, each for everything committed meanwhile. */
const tellEvery = 5;
/** Milliseconds before it listens again. */
const listenAgain = 2_000;

/** Names of topics that tell nobody an id or a key: every role of the database may listen. */
export function createTopicNames(secret: Uint8Array): (topic: Topic) => Topic {
  const key = deriveKey(secret, 'topics');
  return (topic) =>
    topic === 'due' || topic === 'reset'
      ? topic
      : `key:${createHmac('sha256', key).update(topic).digest('base64url').slice(0, nameLength)}`;
}

/**
 * Wakes other instances before their next poll. It has a connection of its own and notifies after the commits,
 * because that costs four times as much within them. Lost notifications do not matter: the poll finds the change.
 */
export function createNotifications(
  url: string,
  { oid }: OwnSchema,
  connections: Connections,
  onTopic: (topic: Topic) => void,
) {
  // Of each service in the database.
  const channel = `urtuu_changes_${oid}`;
  const own = randomBytes(6).toString('base64url');
  const waiting = new Set<Topic>();
  let timer: NodeJS.Timeout | null = null;
  let listener: Client | null = null;
  let isClosed = false;

  function tell(topics: readonly Topic[]): void {
    for (const topic of topics) waiting.add(topic);
    timer ??= setTimeout(flush, tellEvery);
  }

  function flush(): void {
    timer = null;
    const payloads: string[] = [];
    let payload = own;
    for (const topic of waiting) {
      if (Buffer.byteLength(payload) + Buffer.byteLength(topic) >= longestPayload) {
        payloads.push(payload);
        payload = own;
      }
      payload += `\n${topic}`;
    }
    payloads.push(payload);
    waiting.clear();
    connections
      .query(`SELECT pg_notify('${channel}', payload) FROM pg_catalog.unnest($1::text[]) payload`, [payloads])
      .catch(() => {});
  }

  async function listen(): Promise<void> {
    if (isClosed) return;
    let client: Client;
    try {
      client = newClient(url, false);
    } catch {
      // A file of its TLS is being replaced.
      setTimeout(() => void listen(), listenAgain).unref();
      return;
    }
    listener = client;
    const again = () => {
      if (listener !== client) return;
      listener = null;
      destroy(client);
      setTimeout(() => void listen(), listenAgain).unref();
    };
    client.on('error', again);
    client.on('end', again);
    client.on('notification', ({ payload = '' }) => {
      const [from, ...topics] = payload.split('\n');
      if (from !== own) for (const topic of topics) onTopic(topic as Topic);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
    } catch {
      again();
    }
  }

  return {
    tell,
    listen,
    close(): void {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      const client = listener;
      listener = null;
      if (client !== null) destroy(client);
    },
  };
}
