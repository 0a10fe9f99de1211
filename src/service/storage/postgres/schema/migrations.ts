import type { Migrations } from '../database/migrate.js';
import { acceptFunctions } from './accept.js';
import { depthFunctions } from './depth.js';
import { dispatchFunctions } from './dispatch.js';
import { finalizeFunctions } from './finalize.js';
import { holdFunctions, holdTable } from './hold.js';
import { inboxSchema } from './inbox.js';
import { instanceFunctions } from './instances.js';
import { leaseFunctions } from './leases.js';
import { pruneSchema } from './prune.js';
import { recordFunctions } from './records.js';
import { routeFunctions } from './routes.js';
import { sharedFunctions } from './shared.js';
import { signIns } from './sign-ins.js';
import { tables } from './tables.js';

/**
 * Functions carry their version in the name and are dropped one release later, so that the release before keeps working
 * meanwhile.
 */
export const migrations: Migrations = {
  table: 'urtuu_schema',
  steps: [
    [
      tables,
      sharedFunctions,
      holdTable,
      acceptFunctions,
      dispatchFunctions,
      leaseFunctions,
      finalizeFunctions,
      recordFunctions,
      signIns,
      inboxSchema,
      instanceFunctions,
      holdFunctions,
      depthFunctions,
      pruneSchema,
      routeFunctions,
    ].join('\n'),
  ],
};
