import { messagePage, normalizeAnyAddress, normalNumber, type PageOptions } from '../../contract/index.js';
import type { MailAdministration } from '../inbox/mail-administration.js';
import type { OperationContext } from '../operations/context.js';
import { everyRecipient, invalid, tryAnyRecipient } from '../operations/fields.js';
import { listInbox } from '../operations/lists.js';
import type { PageRequest } from '../storage/store.js';
import { timestamp } from '../timestamp.js';

/** Recipients added in one transaction: a million must not keep sends waiting. */
const addedAtOnce = 1_000;

/** Incoming messages, suppressed recipients and the own domain of a project. */
export function mailAdministration(
  { store, project }: OperationContext,
  projectId: string,
  relay: string | null,
): MailAdministration {
  return {
    inbox: async (filter = {}) => listInbox({ store }, { projectId }, filter, requestOf(filter)),
    suppressions: {
      async add(written, reason = 'manual') {
        const recipients = everyRecipient(written, tryAnyRecipient);
        let added = 0;
        for (let from = 0; from < recipients.length; from += addedAtOnce)
          added += await store.suppressAll(projectId, recipients.slice(from, from + addedAtOnce), reason);
        return { added, existing: recipients.length - added };
      },
      async list(page) {
        const listed = await store.listSuppressions(projectId, requestOf(page));
        if (listed === null) throw invalid('after: must be the next of the page before');
        const { records, next } = listed;
        return {
          next,
          data: records.map(({ to, reason, createdAt }) => ({
            to,
            reason,
            created_at: timestamp(createdAt),
          })),
        };
      },
      remove: (recipient) =>
        store.removeSuppression(
          projectId,
          normalNumber(recipient) ?? normalizeAnyAddress(recipient) ?? recipient,
        ),
    },
    async dnsRecords() {
      const { own_domain: own } = (await project({ projectId })).settings;
      if (own === null) return [];
      // Loaded late: few projects have a domain.
      const { dnsRecordsOf } = await import('./dns-records.js');
      return dnsRecordsOf(own, relay).catch((error: Error) => {
        throw invalid(`own_domain.key_file: ${error.message}`);
      });
    },
  };
}

function requestOf({ limit = messagePage.default, after }: PageOptions = {}): PageRequest {
  if (Number.isInteger(limit) && limit >= messagePage.min && limit <= messagePage.max)
    return { limit, after: after ?? null };
  throw invalid(`limit: must be a whole number from ${messagePage.min} to ${messagePage.max}`);
}
