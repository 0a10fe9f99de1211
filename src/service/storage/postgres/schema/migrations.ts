import type { Migrations } from '../database/migrate.js';
import accept from './01/accept.sql' with { type: 'text' };
import dispatch from './01/dispatch.sql' with { type: 'text' };
import hold from './01/hold.sql' with { type: 'text' };
import inbox from './01/inbox.sql' with { type: 'text' };
import instances from './01/instances.sql' with { type: 'text' };
import leases from './01/leases.sql' with { type: 'text' };
import prune from './01/prune.sql' with { type: 'text' };
import records from './01/records.sql' with { type: 'text' };
import release from './01/release.sql' with { type: 'text' };
import routes from './01/routes.sql' with { type: 'text' };
import shared from './01/shared.sql' with { type: 'text' };
import signIns from './01/sign-ins.sql' with { type: 'text' };
import tables from './01/tables.sql' with { type: 'text' };
import finalize from './02-finalize.sql' with { type: 'text' };
import listUnknown from './03-list-unknown.sql' with { type: 'text' };
import stopBatch from './04-stop-batch.sql' with { type: 'text' };
import throttling from './05-throttling.sql' with { type: 'text' };
import mark from './06-mark.sql' with { type: 'text' };
import queue from './07/queue.sql' with { type: 'text' };
import turns from './07/turns.sql' with { type: 'text' };
import fillQueue from './08-fill-queue.sql' with { type: 'text' };
import indexTurns from './09-index-turns.sql' with { type: 'text' };
import requests from './11-requests.sql' with { type: 'text' };
import filling from './12-filling.sql' with { type: 'text' };
import stopClaimed from './13-stop-claimed.sql' with { type: 'text' };
import findWaiting from './14-find-waiting.sql' with { type: 'text' };
import mailboxes from './16-mailboxes.sql' with { type: 'text' };
import verifications from './17-verifications.sql' with { type: 'text' };
import oneStore from './19-one-store.sql' with { type: 'text' };
import carriers from './20-carriers.sql' with { type: 'text' };
import acceptUnlessSuppressed from './21/accept.sql' with { type: 'text' };
import markUnlessSuppressed from './21/mark.sql' with { type: 'text' };
import suppressed from './21/suppressed.sql' with { type: 'text' };
import quietHours from './23/quiet-hours.sql' with { type: 'text' };
import singlesOfLists from './23/singles-of-lists.sql' with { type: 'text' };
import inlined from './24-inlined.sql' with { type: 'text' };
import events from './25/events.sql' with { type: 'text' };
import reporting from './25/reporting.sql' with { type: 'text' };
import writtenOnce from './26-written-once.sql' with { type: 'text' };
import { constants } from './constants.js';
import { fillIn } from './fill-in.js';

const first = [
  tables,
  shared,
  hold,
  accept,
  dispatch,
  leases,
  records,
  signIns,
  inbox,
  instances,
  release,
  prune,
  routes,
];

/** A step of which nothing is left: a later one drops what it made. */
const emptied = '';

/** The session of the dashboard that made a key. */
const createdBy = 'ALTER TABLE keys ADD COLUMN created_by text COLLATE "C";';
/** The carrier's own code of a failure. */
const receiptCode = 'ALTER TABLE receipts ADD COLUMN code text;';

/** Where others reach the service, over https: in links of emails. */
const publicUrl = 'ALTER TABLE dashboard ADD COLUMN public_url text;';

/**
 * What has begun on a route in each quarter of an hour, [[end, count], ...], and when its carrier's limit of a day was
 * reached last.
 */
const routeDays = `CREATE TABLE route_days (
  route text COLLATE "C" PRIMARY KEY,
  slots text NOT NULL,
  reached_at bigint
);`;

/**
 * Functions have their version in the name. A changed function is a new version in a new step, removed from its old
 * step. The function that the previous release calls does the same as the new one, and is dropped one release later.
 */
export const migrations: Migrations = {
  table: 'urtuu_schema',
  steps: fillIn(
    [
      first.join('\n'),
      finalize,
      listUnknown,
      stopBatch,
      throttling,
      mark,
      [queue, turns].join('\n'),
      fillQueue,
      indexTurns,
      emptied,
      requests,
      filling,
      stopClaimed,
      findWaiting,
      emptied,
      mailboxes,
      verifications,
      createdBy,
      oneStore,
      carriers,
      [suppressed, acceptUnlessSuppressed, markUnlessSuppressed].join('\n'),
      publicUrl,
      [quietHours, singlesOfLists].join('\n'),
      inlined,
      receiptCode,
      routeDays,
      [events, reporting].join('\n'),
      writtenOnce,
    ],
    constants,
  ),
  alone: 28,
};
