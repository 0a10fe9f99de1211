import type { Database } from '../../storage/sqlite/database/database.js';

/**
 * Makes a copy of the operator's file as old as the copy of the store: removes deliveries of messages that the store
 * does not have or had not submitted then, and fences of later attempts.
 */
export function alignOutbox(carrier: Database, store: string): void {
  carrier.prepare('ATTACH ? AS store').run(store);
  carrier.exec(`
    BEGIN;
    DELETE FROM deliveries
    WHERE reference NOT IN (SELECT id FROM store.messages WHERE status <> 'queued' OR route IS NOT NULL);
    DELETE FROM barred WHERE before > (SELECT attempts + 1 FROM store.messages WHERE id = reference);
    COMMIT;
    DETACH store`);
}
