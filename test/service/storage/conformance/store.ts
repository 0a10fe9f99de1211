import { afterEach, beforeEach, describe } from 'vitest';
import { acceptanceConformance } from './acceptance.js';
import { dispatchConformance } from './dispatch.js';
import type { Engine } from './engine.js';
import { eventConformance } from './events.js';
import { fenceConformance } from './fence.js';
import { Fixture } from './fixture.js';
import { holdingConformance } from './holding.js';
import { inboxConformance } from './inbox.js';
import { insightConformance } from './insights.js';
import { instanceConformance } from './instances.js';
import { laneConformance } from './lanes.js';
import { listConformance } from './lists.js';
import { mailboxConformance } from './mailboxes.js';
import { pruningConformance } from './pruning.js';
import { quietConformance } from './quiet.js';
import { raceConformance } from './races.js';
import { receiptConformance } from './receipts.js';
import { recordConformance } from './records.js';
import { repeatsConformance } from './repeats.js';
import { resetConformance } from './resets.js';
import { signInConformance } from './sign-ins.js';
import { suppressionConformance } from './suppressions.js';
import { turnConformance } from './turns.js';

/** The rules of a store, for every engine: on one handle, and on two whose calls alternate. */
export function storeConformance(engine: Engine): void {
  describe.each(engine.handles)(`store: ${engine.name}, handles: %i`, (handles) => {
    let current: Fixture;
    const fixture = () => current;
    beforeEach(async () => {
      current = await Fixture.open(engine, handles);
    });
    afterEach(() => current.close());

    acceptanceConformance(fixture);
    dispatchConformance(fixture);
    eventConformance(fixture);
    fenceConformance(fixture);
    insightConformance(fixture);
    inboxConformance(fixture);
    mailboxConformance(fixture);
    holdingConformance(fixture);
    instanceConformance(fixture);
    laneConformance(fixture);
    listConformance(fixture);
    pruningConformance(fixture);
    quietConformance(fixture);
    receiptConformance(fixture);
    recordConformance(fixture);
    repeatsConformance(fixture);
    resetConformance(fixture);
    signInConformance(fixture);
    suppressionConformance(fixture);
    turnConformance(fixture);
  });

  raceConformance(engine);
}
