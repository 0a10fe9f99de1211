import type { Migrations } from '../database/migrate.js';
import { acceptFunctions, acceptIntoQueue } from './accept.js';
import { depthFunctions } from './depth.js';
import { dispatchFunctions, leaveFunction, postponeFunction } from './dispatch.js';
import { finalizationType, finalizeBefore, finalizeFunctions, listUnknown } from './finalize.js';
import { holdFunctions, holdTable } from './hold.js';
import { inboxSchema, keepIncoming } from './inbox.js';
import { instanceFunctions, leftEndedTable } from './instances.js';
import { endLeaseFunction, leaseFunctions } from './leases.js';
import { markBefore, markFunction } from './marks.js';
import { pruneSchema } from './prune.js';
import { recordFunctions, resetBefore, resetFunction } from './records.js';
import { requestFunctions } from './requests.js';
import { routeFunctions, stopBefore, stopFunction } from './routes.js';
import { sharedFunctions } from './shared.js';
import { signIns } from './sign-ins.js';
import { fillColumn, tables } from './tables.js';
import { throttling } from './throttling.js';
import { fillQueue, turnFunctions, turnIndex, turnTables } from './turns.js';

/**
 * Functions carry their version in the name. One that changes is a new version in a new step, and leaves the step that it
 * was in; what the release before calls does the same as the new one, and is dropped one release later.
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
      finalizationType,
      recordFunctions,
      signIns,
      inboxSchema,
      instanceFunctions,
      holdFunctions,
      depthFunctions,
      pruneSchema,
      routeFunctions,
    ].join('\n'),
    [finalizeFunctions, finalizeBefore, resetFunction, resetBefore].join('\n'),
    listUnknown,
    [stopFunction, stopBefore, leftEndedTable].join('\n'),
    throttling,
    [markFunction, markBefore].join('\n'),
    [turnTables, acceptIntoQueue, postponeFunction, endLeaseFunction, turnFunctions].join('\n'),
    fillQueue,
    turnIndex,
    keepIncoming,
    [requestFunctions, leaveFunction].join('\n'),
    fillColumn,
  ],
};
