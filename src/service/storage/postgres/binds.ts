import type { RouteBinds } from '../route-limits.js';
import type { Database } from './database/database.js';

export function createBinds(database: Database): RouteBinds {
  return {
    async leaseBind({ route, binds, holder, leaseMs }) {
      const [row] = await database.query<{ is_leased: boolean }>(
        'SELECT lease_bind_1($1, $2, $3, $4, $5, $6) AS is_leased',
        [database.now(), route, binds, holder, leaseMs, Math.floor(database.connectedMs())],
      );
      return row?.is_leased === true;
    },
    async releaseBind({ route, holder }) {
      await database.query('SELECT release_bind_1($1, $2)', [route, holder]);
    },
  };
}
