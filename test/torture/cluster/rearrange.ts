import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../support/postgres.js';
import type { Server } from '../service/server.js';
import { type Setting, startAgain } from './troubles.js';

/** The role of the instances: it owns the database, and is no superuser. */
const role = 'app';
/** Milliseconds in which a rearranged database is used as it is. */
const meanwhile = 150;

/** Gives the database to a role of its own, and the service the schema of an early one; the address for the role. */
export async function giveAway(database: string): Promise<string> {
  await query(
    database,
    `CREATE ROLE ${role} LOGIN; ALTER DATABASE urtuu OWNER TO ${role};
     DROP SCHEMA public; ALTER SCHEMA urtuu RENAME TO public; ALTER SCHEMA public OWNER TO ${role}`,
  );
  await query(
    database,
    `DO $$ DECLARE each text; BEGIN
       FOR each IN SELECT format('TABLE %s', oid::regclass) FROM pg_class
           WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
         UNION ALL SELECT format('FUNCTION %s', oid::regprocedure) FROM pg_proc
           WHERE pronamespace = 'public'::regnamespace
         UNION ALL SELECT format('TYPE %s', oid::regclass) FROM pg_class
           WHERE relnamespace = 'public'::regnamespace AND relkind = 'c'
       LOOP EXECUTE 'ALTER ' || each || ' OWNER TO ${role}'; END LOOP;
     END $$`,
  );
  const url = new URL(database);
  url.username = role;
  return url.href;
}

/** Takes away what a broken instance has made beside the service. */
export const clearAway = (database: string) =>
  query(database, `DROP SCHEMA IF EXISTS ${role}, elsewhere CASCADE`);

/** What an owner does to the database while it is served. Each ends with the data where it was. */
export const rearrangements = {
  /** PostgreSQL looks there first, once there is one. */
  async schemaOfTheRole(setting: Setting) {
    await query(setting.database, `CREATE SCHEMA IF NOT EXISTS ${role} AUTHORIZATION ${role}`);
    await restart(setting);
  },
  async searchPath(setting: Setting) {
    const path = ['pg_catalog', role, `elsewhere, ${role}`, '"$user", public'][
      Math.floor(setting.random() * 4)
    ];
    await query(
      setting.database,
      `CREATE SCHEMA IF NOT EXISTS elsewhere; GRANT ALL ON SCHEMA elsewhere TO ${role};
       ALTER ROLE ${role} IN DATABASE urtuu SET search_path = ${path}`,
    );
    await closeConnections(setting);
    await restart(setting);
  },
  async rename(setting: Setting) {
    await query(setting.database, 'ALTER SCHEMA public RENAME TO renamed');
    await sleep(meanwhile);
    await restart(setting);
    await sleep(meanwhile);
    await query(setting.database, 'ALTER SCHEMA renamed RENAME TO public');
    await restart(setting);
  },
  async grants(setting: Setting) {
    const rights = ['SELECT', 'INSERT', 'UPDATE', 'ALL'][Math.floor(setting.random() * 4)];
    await query(setting.database, `REVOKE ${rights} ON ALL TABLES IN SCHEMA public FROM ${role}`);
    await sleep(meanwhile);
    const server = await tryRestart(setting);
    await query(setting.database, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
    if (!server.running) await startAgain(server);
  },
  async neighbour(setting: Setting) {
    await query(
      setting.database,
      `CREATE SCHEMA other AUTHORIZATION ${role}; CREATE TABLE other.urtuu_schema (version int);
       ALTER TABLE other.urtuu_schema OWNER TO ${role}`,
    );
    const server = await tryRestart(setting);
    await query(setting.database, 'DROP SCHEMA other CASCADE');
    if (!server.running) await startAgain(server);
  },
  /** A copy of the database, which an instance of its own serves: it must deliver nothing. */
  async restore(setting: Setting) {
    const { cluster, database, unheld, serverOn } = setting;
    await query(`${cluster.url}/postgres`, 'ALTER DATABASE urtuu ALLOW_CONNECTIONS false');
    try {
      await closeConnections({ database: `${cluster.url}/postgres` });
      await query(`${cluster.url}/postgres`, 'CREATE DATABASE copy TEMPLATE urtuu');
    } finally {
      await query(`${cluster.url}/postgres`, 'ALTER DATABASE urtuu ALLOW_CONNECTIONS true');
    }
    const copy = database.replace(/\/urtuu$/, '/copy');
    const delivered = () => query(copy, 'SELECT count(*)::text AS count FROM public.deliveries');
    const before = await delivered();
    const server = await serverOn(copy);
    await startAgain(server);
    await sleep(meanwhile * 2);
    await server.end('SIGKILL');
    if (JSON.stringify(await delivered()) !== JSON.stringify(before)) unheld.push(performance.now());
    await query(`${cluster.url}/postgres`, 'DROP DATABASE copy WITH (FORCE)');
  },
} satisfies Record<string, (setting: Setting) => Promise<void>>;

/** Sessions keep what the role and the database had set when they began. */
const closeConnections = ({ database }: Pick<Setting, 'database'>) =>
  query(
    database,
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'urtuu'",
  );

async function restart(setting: Setting): Promise<void> {
  const server = await tryRestart(setting);
  if (!server.running) await startAgain(server);
}

/** The next instance; it does not run if it refused to start. */
async function tryRestart({ servers, random }: Setting): Promise<Server> {
  const server = servers[Math.floor(random() * servers.length)] as Server;
  await server.end('SIGKILL');
  await server.start().catch(() => server.end('SIGKILL'));
  return server;
}
