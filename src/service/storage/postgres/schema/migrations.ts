import { acceptFunctions } from './accept.js';
import { dispatchFunctions } from './dispatch.js';
import { finalizeFunctions } from './finalize.js';
import { recordFunctions } from './records.js';
import { sharedFunctions } from './shared.js';
import { tables } from './tables.js';

/**
 * Steps from one version of the schema to the next; those that were published never change. Functions carry their
 * version in the name and are dropped one release later, so that the release before keeps working meanwhile.
 */
export const migrations: readonly string[] = [
  [tables, sharedFunctions, acceptFunctions, dispatchFunctions, finalizeFunctions, recordFunctions].join(
    '\n',
  ),
];
