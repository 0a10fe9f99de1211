import { ServiceError } from '../../errors/service-error.js';
import { orRefusal } from '../page.js';
import { Field, Notice, Panel, Table } from '../parts/parts.js';
import { type Topic, text } from './settings-topic.js';

export const emailTopic: Topic = {
  path: 'email',
  title: (t) => t.email,
  async facts({ t, administration }, { own_domain: own }) {
    if (own === null) {
      return (
        <Panel title={t.ownDomain}>
          <p>
            {t.ownDomainNone} <code>urtuu service settings set own_domain shop.example.mn</code>
          </p>
        </Panel>
      );
    }
    const records = await orRefusal(administration.dnsRecords(), 'invalid_request');
    return (
      <Panel title={`${t.ownDomain}: ${own.domain}`}>
        {records instanceof ServiceError ? (
          <Notice kind="bad" title={records.message} />
        ) : (
          <>
            <p class="hint">{t.ownDomainNote}</p>
            <Table
              caption={t.ownDomain}
              rows={records}
              columns={[
                { name: t.purpose, role: 'main', cell: ({ purpose }) => purpose },
                { name: t.type, cell: ({ type }) => type },
                { name: t.name, cell: ({ name }) => <code>{name}</code> },
                { name: t.value, cell: ({ value }) => <code>{value}</code> },
              ]}
            />
          </>
        )}
      </Panel>
    );
  },
  values: ({ list_unsubscribe: unsubscribe, suppressions }) => ({
    list_unsubscribe: unsubscribe ?? '',
    suppressions: suppressions ? 'on' : '',
  }),
  fields: ({ t }, value) => (
    <fieldset>
      <legend>{t.delivering}</legend>
      <Field
        name="list_unsubscribe"
        label={t.unsubscribe}
        hint={t.unsubscribeHint}
        value={value('list_unsubscribe')}
        autocomplete="off"
      />
      <p class="field">
        <label class="check">
          <input type="checkbox" name="suppressions" value="on" checked={value('suppressions') !== ''} />
          {t.suppressions}
        </label>
        <small class="hint">{t.suppressionsHint}</small>
      </p>
    </fieldset>
  ),
  patch: (fields) => ({
    list_unsubscribe: text(fields, 'list_unsubscribe'),
    suppressions: text(fields, 'suppressions') !== null,
  }),
};
