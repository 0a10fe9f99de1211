import { idAsWritten, maxActiveKeys, normalizeRecipient } from '../../contract/index.js';
import type {
  Administration,
  ApiKey,
  LedgerEntry,
  NewApiKey,
  ProjectAdministration,
} from '../administration.js';
import type { SimulatedCarrier } from '../carriers/simulated/simulated.js';
import { ServiceError } from '../errors/service-error.js';
import type { Identification } from '../inbox/receive-mail.js';
import type { OperationContext } from '../operations/context.js';
import { checkLine, invalid } from '../operations/fields.js';
import { hashSecret, keyPrefixLength, newSecret } from '../operations/keys.js';
import { defaultSettings, hosted, maxNameLength, mergeSettings, type SettingsPatch } from '../settings.js';
import { usualScope } from '../storage/admission.js';
import type { Instances } from '../storage/instances.js';
import type { KeyRecord, LedgerPage, LedgerRecord, NewKey } from '../storage/store.js';
import { timestamp } from '../timestamp.js';
import { withCodes } from './deliveries.js';
import { createHold } from './hold.js';
import { administerLanes } from './lanes.js';
import { mailAdministration } from './mail.js';
import { defaultProject, openingBalance } from './projects.js';
import type { Prune } from './prune.js';
import { hashToken, linkLife, newToken, signInAdministration } from './sign-in.js';
import { statusOf } from './status.js';

/** The most in one credit, so that sums of many remain exact. */
const mostCredits = 1_000_000_000_000;
/** The longest life of a key: a thousand years. */
const mostSeconds = 1_000 * 366 * 86_400;

/** Entries read at once. */
const ledgerPage = 1_000;

export interface AdministrationParts {
  carrier: SimulatedCarrier;
  isReal: boolean;
  instances: Instances;
  reset(): Promise<void>;
  prune: Prune['prune'];
  /** How reports about its mails are recognized. */
  identification: Identification;
  /** The host of the mail relay; null if there is none or it is unknown. */
  relay: string | null;
}

export function createAdministration(
  context: OperationContext,
  { carrier, isReal, instances, reset, prune, identification, relay }: AdministrationParts,
): Administration {
  const { store, clock, readProject } = context;
  const lanes = { store, instances, readProject, clock, simulatedLanes: isReal ? [] : carrier.lanes };
  return {
    ...administerLanes(lanes),
    ...administrationOf(context, defaultProject.id, relay),
    async createProject(name) {
      checkName('name', name);
      const id = context.newId();
      const created = await store.createProject({ id, name, balance: openingBalance });
      if (created === null) throw new Error(`there is a project ${id} already`);
      return { id, name, balance: openingBalance, created_at: timestamp(created.createdAt) };
    },
    async listProjects() {
      const projects = await store.listProjects();
      return projects.map(({ id, name, balance, createdAt }) => {
        return { id, name, balance, created_at: timestamp(createdAt) };
      });
    },
    async renameProject(id, name) {
      checkName('name', name);
      return store.renameProject(idAsWritten(id), name);
    },
    async project(written) {
      const id = idAsWritten(written);
      return (await store.getProject(id)) === null ? null : administrationOf(context, id, relay);
    },
    async *outbox({ to, ...filter } = {}) {
      const recipient = to === undefined ? {} : { to: normalizeRecipient(to) };
      yield* withCodes(context, carrier.outbox.read({ ...filter, ...recipient }));
    },
    async receiveMail(mail, recipients = []) {
      // Loaded late: the parser is large.
      const { receiveMail } = await import('../inbox/receive-mail.js');
      return receiveMail(context, identification, mail, recipients);
    },
    isReal,
    async reset() {
      if (isReal) throw invalid('this data was served with a real carrier: it is never reset');
      await reset();
    },
    status: () => statusOf(lanes),
    ...signInAdministration(store),
    ...createHold(context),
    prune,
    idle: () => context.dispatcher.idle(),
  };
}

function administrationOf(
  context: OperationContext,
  projectId: string,
  relay: string | null,
): ProjectAdministration {
  const { store, random } = context;
  const newKey = ({ label, created_by: createdBy, scope = usualScope, ...given }: NewApiKey) => {
    if (label !== undefined) checkName('label', label);
    const expiry = expiryOf(given);
    const secret = newSecret(random);
    const prefix = secret.slice(0, keyPrefixLength);
    const own = { id: context.newId(), projectId, hash: hashSecret(secret), prefix };
    return { secret, key: { ...own, label: label ?? null, createdBy: createdBy ?? null, scope, expiry } };
  };
  return {
    ...mailAdministration(context, projectId, relay),
    async createFirstKey() {
      const { secret, key } = newKey({});
      const added = await store.addFirstKey(key);
      return added === null ? null : { ...toApiKey(added), secret };
    },
    async createKey(options = {}) {
      const { secret, key } = newKey(options);
      const added = await store.addKey(key, maxActiveKeys);
      if (added === 'over') throw invalid('expires_at: must be a time in the future');
      if (added !== 'too_many') return { ...toApiKey(added), secret };
      throw new ServiceError(
        'invalid_request',
        `The project has ${maxActiveKeys} active keys, the maximum; revoke one first`,
        { hint: 'See: `urtuu keys list`' },
      );
    },
    listKeys: async () => (await store.listKeys(projectId)).map(toApiKey),
    revokeKey: (id) => store.revokeKey(projectId, idAsWritten(id)),
    async credit(amount, { note, id = context.newId() } = {}) {
      if (note !== undefined) checkName('note', note);
      if (!Number.isInteger(amount) || Math.abs(amount) > mostCredits)
        throw invalid(`credits: must be a whole number of at most ${mostCredits}`);
      return store.credit(projectId, amount, { id, note: note ?? null });
    },
    async ledger() {
      return (await store.listLedger(projectId)).map(toLedgerEntry);
    },
    async *newestLedger({ since } = {}) {
      const from = since === undefined ? null : Date.parse(since);
      let before: number | null = null;
      do {
        const page: LedgerPage = await store.listLedgerPage(projectId, { limit: ledgerPage, before });
        for (const record of page.records) {
          if (from !== null && record.createdAt < from) return;
          yield toLedgerEntry(record);
        }
        before = page.next;
      } while (before !== null);
    },
    async createDashboardLink({ allProjects: isOwner = false, readOnly: isReadOnly = false } = {}) {
      const url = await store.dashboardUrl();
      if (url === null) return null;
      const token = newToken({ isOwner, isReadOnly });
      await store.addSignInLink({ hash: hashToken(token), projectId, lifeMs: linkLife });
      return `${url}/dashboard/sign-in?token=${token}`;
    },
    settings: {
      get: async () => (await context.project({ projectId })).settings,
      async update(patch) {
        const { checkSettings } = await import('./settings.js');
        const publicUrl = await store.publicUrl();
        await store.changeSettings(projectId, (stored) => {
          const own: SettingsPatch = JSON.parse(stored);
          const given = typeof patch === 'function' ? patch(mergeSettings(defaultSettings, own)) : patch;
          const checked = checkSettings(given);
          const isNew = checked.list_unsubscribe !== own.list_unsubscribe;
          if (checked.list_unsubscribe === hosted && isNew && publicUrl === null) throw needsPublicUrl();
          return JSON.stringify(mergeSettings(own, checked));
        });
        return (await context.project({ projectId })).settings;
      },
    },
  };
}

const needsPublicUrl = () =>
  invalid(
    'list_unsubscribe: hosted needs a public URL: start the service with --public-url https://sms.example.mn first',
  );

function expiryOf({ expires_at: at, expires_in: seconds }: NewApiKey): NewKey['expiry'] {
  if (seconds !== undefined) {
    if (at !== undefined) throw invalid('expires_in: must not be given with expires_at');
    if (!(seconds > 0 && seconds <= mostSeconds)) throw invalid('expires_in: must be a number of seconds');
    return { afterMs: Math.ceil(seconds * 1_000) };
  }
  if (at === undefined) return null;
  const instant = Date.parse(at);
  if (Number.isNaN(instant)) throw invalid('expires_at: must be a time in the future');
  return { at: instant };
}

function checkName(field: string, name: string): void {
  checkLine(field, name);
  if (name.length > maxNameLength) throw invalid(`${field}: must have at most ${maxNameLength} characters`);
}

function toApiKey({ id, prefix, label, createdBy, scope, createdAt, ...times }: KeyRecord): ApiKey {
  const written = (time: number | null) => (time === null ? null : timestamp(time));
  return {
    id,
    prefix,
    label,
    created_by: createdBy,
    scope,
    created_at: timestamp(createdAt),
    expires_at: written(times.expiresAt),
    last_used_at: written(times.usedAt),
    revoked_at: written(times.revokedAt),
  };
}

function toLedgerEntry({ amount, reason, subjectId, note, createdAt }: LedgerRecord): LedgerEntry {
  return { amount, reason, subject_id: subjectId, note, created_at: timestamp(createdAt) };
}
