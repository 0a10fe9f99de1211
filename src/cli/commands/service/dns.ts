import type { DnsRecord } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { field, type View } from '../../output/view.js';
import { addProjectOption, ownedProject, type ProjectOptions } from './project.js';
import { addStoreOptions, noteStore } from './store.js';

const view: View<DnsRecord> = {
  columns: [field('purpose'), field('type'), field('name'), field('value')],
  record: (record) => record,
  empty: 'No own domain. Set one with: `urtuu service settings set own_domain shop.mn`',
};

export const serviceDns: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command.description('List the DNS records to publish for the own domain of a project.');
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['reads'],
    notes: [
      'SPF allows the mail servers of the domain: add your relay, as a:relay.example.mn',
      'or as the include: that it documents. DKIM needs selector and key file in',
      'own_domain.',
    ],
    examples: [
      ['urtuu service dns --project Shop', 'the records of one project'],
      ['urtuu service dns --json', 'for a program that publishes them'],
    ],
    exits: [8, 12],
    json: '[{"purpose": "SPF", "type": "TXT", "name": "shop.mn", "value": "v=spf1 mx ~all"}]',
  });
  command.action(async (options: ProjectOptions) => {
    const store = await ownedProject(context, options);
    await context.io.printAll(view, await store.project.dnsRecords());
    noteStore(context.io, store);
  });
};
