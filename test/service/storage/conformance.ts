import { afterEach, beforeEach, describe } from 'vitest';
import type { Store } from '../../../src/service/storage/store.js';
import { deliveryConformance } from './conformance/dispatch.js';
import { Fixture, other, project } from './conformance/fixture.js';
import { moneyConformance } from './conformance/money.js';
import { recordConformance } from './conformance/records.js';

/** What every engine of the store has to do; `open` gives an empty one. */
export function storeConformance(engine: string, open: () => Promise<Store>): void {
  describe(`store: ${engine}`, () => {
    let current: Fixture;
    const fixture = () => current;

    beforeEach(async () => {
      current = new Fixture(await open());
      await current.store.createProject(project);
      await current.store.createProject(other);
    });
    afterEach(() => current.store.close());

    moneyConformance(fixture);
    deliveryConformance(fixture);
    recordConformance(fixture);
  });
}
