import { maxActiveKeys } from '../../../contract/index.js';
import { signInId } from '../../admin/sign-in.js';
import type { ApiKey } from '../../administration.js';
import { ServiceError } from '../../errors/service-error.js';
import { maxNameLength } from '../../settings.js';
import { fill } from '../language/language.js';
import { type Form, linkTo, orRefusal, type Page, type PageContext, type View } from '../page.js';
import { Empty, Field, Notice, OfProject, Panel, shortId, Table, Time } from '../parts/parts.js';
import { Sign } from '../parts/status.js';

const nameOf = ({ id, prefix, label }: ApiKey) =>
  [prefix ?? shortId(id), label && `(${label})`].filter(Boolean).join(' ');

const isActive = ({ revoked_at: revokedAt, expires_at: expiresAt }: ApiKey, now: number) =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now);

export const keys: Page = async (context) => {
  const { t, query, newSecret } = context;
  if (newSecret !== null) return keysView(context, <NewSecret t={t} secret={newSecret} />);
  return keysView(context, query.done === 'revoked' && <Notice kind="good" title={t.keyRevoked} />);
};

const NewSecret = ({ t, secret }: { t: PageContext['t']; secret: string }) => (
  <Notice kind="good" title={t.keyCreated}>
    {t.keyOnce}
    <p class="secret">
      <code id="secret">{secret}</code>
      <button type="button" data-copy="secret" data-done={t.copied} hidden>
        {t.copy}
      </button>
    </p>
  </Notice>
);

async function keysView(context: PageContext, notice: View['body']): Promise<View> {
  const { t } = context;
  const all = await context.administration.listKeys();
  const newest = [...all].reverse();
  const active = newest.filter((key) => isActive(key, context.now));
  const rows = [...active, ...newest.filter((key) => !active.includes(key))];
  return {
    title: t.keys,
    section: 'keys',
    body: (
      <>
        {notice}
        <p class="hint">{fill(t.keysNote, { max: maxActiveKeys })}</p>
        {context.isReadOnly ? (
          <p class="hint">{t.onlyLooks}</p>
        ) : (
          <NewKeyForm context={context} active={active.length} />
        )}
        {rows.length === 0 ? <Empty>{t.noKeys}</Empty> : <KeyTable keys={rows} context={context} />}
      </>
    ),
  };
}

function NewKeyForm({ context, active }: { context: PageContext; active: number }) {
  const { t } = context;
  return (
    <Panel title={t.newKey}>
      <form method="post" action={linkTo('/keys')} class="inline">
        <OfProject context={context} />
        <Field name="label" label={t.label} hint={t.labelHint} maxlength={maxNameLength} autocomplete="off" />
        <p class="field">
          <label for="scope">{t.scope}</label>
          <select id="scope" name="scope">
            {Object.entries(scopes).map(([name, scope]) => (
              <option value={name}>{wordsOf(t, scope)}</option>
            ))}
          </select>
        </p>
        <button type="submit" class="primary" disabled={active >= maxActiveKeys}>
          {t.createKey}
        </button>
      </form>
    </Panel>
  );
}

function KeyTable({ keys: rows, context }: { keys: readonly ApiKey[]; context: PageContext }) {
  const { t } = context;
  return (
    <section class="panel">
      <Table
        caption={t.keys}
        rows={rows}
        columns={[
          {
            name: t.key,
            role: 'main',
            cell: ({ id, prefix }) => <code>{prefix ? `${prefix}…` : shortId(id)}</code>,
          },
          { name: t.label, role: 'plain', cell: ({ label }) => label },
          { name: t.scope, role: 'plain', cell: ({ scope }) => wordsOf(t, scope) },
          { name: t.status, role: 'plain', cell: (key) => <KeyState state={key} context={context} /> },
          {
            name: t.created,
            isNumber: true,
            cell: ({ created_at }) => <Time at={created_at} look={context} />,
          },
          {
            name: t.lastUsed,
            isNumber: true,
            cell: ({ last_used_at: at }) => (at === null ? t.none : <Time at={at} look={context} />),
          },
          {
            name: '',
            isNumber: true,
            cell: (key) =>
              key.revoked_at === null &&
              !context.isReadOnly && (
                <a href={linkTo(`/keys/${key.id}/revoke`)} aria-label={`${t.revoke} ${nameOf(key)}`}>
                  {t.revoke}
                </a>
              ),
          },
        ]}
      />
    </section>
  );
}

const scopes: Readonly<Record<string, ApiKey['scope']>> = {
  sendAndRead: ['send', 'read'],
  sendOnly: ['send'],
  readOnly: ['read'],
  inboxOnly: ['inbox'],
};

const wordsOf = (t: PageContext['t'], scope: ApiKey['scope']) => scope.map((each) => t[each]).join(', ');

function KeyState({ state, context }: { state: ApiKey; context: PageContext }) {
  const { t, now } = context;
  const { revoked_at: revokedAt, expires_at: expiresAt } = state;
  if (revokedAt !== null) {
    return (
      <Sign tone="bad">
        {t.revoked} <Time at={revokedAt} look={context} />
      </Sign>
    );
  }
  if (expiresAt === null) return <Sign tone="good">{t.active}</Sign>;
  const isOver = !isActive(state, now);
  return (
    <Sign tone={isOver ? 'bad' : 'good'}>
      {isOver ? t.expired : t.activeUntil} <Time at={expiresAt} look={context} />
    </Sign>
  );
}

export const createKey: Form = async (context, fields) => {
  const { administration } = context;
  const label = fields.get('label')?.trim() ?? '';
  const scope = Object.entries(scopes).find(([name]) => name === fields.get('scope'))?.[1];
  const making = administration.createKey({
    ...(scope && { scope }),
    created_by: signInId(context.name),
    ...(label && { label }),
  });
  const created = await orRefusal(making, 'invalid_request');
  if (created instanceof ServiceError) {
    return { ...(await keysView(context, <Notice kind="bad" title={created.message} />)), status: 400 };
  }
  return { id: created.id, secret: created.secret };
};

export const askRevoke: Page = async (context) => {
  const { t, administration, id, isReadOnly } = context;
  if (isReadOnly) return null;
  const key = (await administration.listKeys()).find((each) => each.id === id && each.revoked_at === null);
  if (key === undefined) return null;
  return {
    title: t.revokeKey,
    section: 'keys',
    body: (
      <section class="panel">
        <p>
          <strong>{fill(t.revokeQuestion, { key: nameOf(key) })}</strong>
        </p>
        <p>{t.revokeNote}</p>
        <form method="post" action={linkTo(`/keys/${id}/revoke`)} class="actions">
          <button type="submit" class="danger">
            {t.revokeKey}
          </button>
          <a href={linkTo('/keys')}>{t.cancel}</a>
        </form>
      </section>
    ),
  };
};

export const revokeKey: Form = async (context) => {
  if (await context.administration.revokeKey(context.id)) return linkTo('/keys', { done: 'revoked' });
  return { ...(await keysView(context, <Notice kind="bad" title={context.t.noSuchKey} />)), status: 404 };
};
