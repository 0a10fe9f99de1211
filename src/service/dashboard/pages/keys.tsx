import { maxActiveKeys } from '../../../contract/index.js';
import type { ApiKey } from '../../service.js';
import { ServiceError } from '../../service-error.js';
import { maxNameLength } from '../../settings.js';
import { fill } from '../language/language.js';
import { type Form, linkTo, type Page, type PageContext, type View } from '../page.js';
import { Empty, Field, Notice, Panel, shortId, Table, Time } from '../parts/parts.js';

const nameOf = ({ id, prefix, label }: ApiKey) =>
  [prefix ?? shortId(id), label && `(${label})`].filter(Boolean).join(' ');

export const keys: Page = async (context) =>
  keysView(context, context.query.done === 'revoked' && <Notice kind="good" title={context.t.keyRevoked} />);

async function keysView(context: PageContext, notice: View['body']): Promise<View> {
  const { t } = context;
  const all = await context.administration.listKeys();
  const active = all.filter((key) => key.revoked_at === null);
  const rows = [...active.reverse(), ...all.filter((key) => key.revoked_at !== null).reverse()];
  return {
    title: t.keys,
    section: 'keys',
    body: (
      <>
        {notice}
        <p class="hint">{fill(t.keysNote, { max: maxActiveKeys })}</p>
        <Panel title={t.newKey}>
          <form method="post" action={linkTo('/keys')} class="inline">
            <Field
              name="label"
              label={t.label}
              hint={t.labelHint}
              maxlength={maxNameLength}
              autocomplete="off"
            />
            <button type="submit" class="primary" disabled={active.length >= maxActiveKeys}>
              {t.createKey}
            </button>
          </form>
        </Panel>
        {rows.length === 0 ? <Empty>{t.noKeys}</Empty> : <KeyTable keys={rows} context={context} />}
      </>
    ),
  };
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
            isMain: true,
            cell: ({ id, prefix }) => <code>{prefix ? `${prefix}…` : shortId(id)}</code>,
          },
          { name: t.label, cell: ({ label }) => label },
          {
            name: t.status,
            cell: ({ revoked_at: revokedAt }) =>
              revokedAt === null ? (
                t.active
              ) : (
                <span class="hint">
                  {t.revoked} <Time at={revokedAt} look={context} />
                </span>
              ),
          },
          {
            name: t.created,
            isNumber: true,
            cell: ({ created_at }) => <Time at={created_at} look={context} />,
          },
          {
            name: '',
            isNumber: true,
            cell: (key) =>
              key.revoked_at === null && (
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

/** Shows the secret in this answer only: it is in no address and in no store. */
export const createKey: Form = async (context, fields) => {
  const { t, administration } = context;
  const label = fields.get('label')?.trim() ?? '';
  const created = await administration.createKey(label === '' ? {} : { label }).catch((error) => {
    if (error instanceof ServiceError && error.code === 'invalid_request') return error;
    throw error;
  });
  if (created instanceof ServiceError) {
    return { ...(await keysView(context, <Notice kind="bad" title={created.message} />)), status: 400 };
  }
  return keysView(
    context,
    <Notice kind="good" title={t.keyCreated}>
      {t.keyOnce}
      <p class="secret">
        <code id="secret">{created.secret}</code>
        <button type="button" data-copy="secret" data-done={t.copied} hidden>
          {t.copy}
        </button>
      </p>
    </Notice>,
  );
};

export const revokeQuestion: Page = async (context) => {
  const { t, administration, id } = context;
  const key = (await administration.listKeys()).find((each) => each.id === id && each.revoked_at === null);
  if (key === undefined) return null;
  return {
    title: t.revokeKey,
    section: 'keys',
    body: (
      <section class="panel ask">
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
