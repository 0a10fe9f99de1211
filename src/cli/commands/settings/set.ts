import { recipientCaps } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { addProjectOption, ownedProject, type ProjectOptions } from '../service/project.js';
import { noteStore } from '../service/store.js';
import {
  changeOf,
  isChosen,
  printLines,
  readSettingName,
  type SettingsOwner,
  settingsExample,
  settingsView,
} from './setting.js';

const [short, long] = recipientCaps;

export const settingsSet =
  (owner: SettingsOwner): CommandBody<'options' | 'io' | 'network' | 'config'> =>
  (command, context) => {
    command
      .description('Change a setting. A running service uses it from the next request on.')
      .argument('<name>', 'name of the setting', readSettingName)
      .argument('<value...>', 'its value; several for a list, an empty one removes it');
    addProjectOption(command);
    owner.addOptions(command);
    addHelp(command, {
      view: settingsView,
      effects: ['changes'],
      notes: [
        'Settings:',
        '  brand_name               sender name of emails',
        '  reply_to                 default reply-to address of emails',
        '  own_domain               domain that emails are sent from; with a DKIM key:',
        '                           domain, selector, key file',
        '  list_unsubscribe         address in bulk emails, as https://shop.mn/u?to={to},',
        '                           or hosted: a page of this service',
        '  suppressions             true: send nothing more to unknown recipients, and to',
        '                           anyone who replies with a stop word',
        '  stop_words               replies by SMS that suppress their sender',
        '  start_words              replies that undo that',
        '  quiet_hours              21:00-08:00: messages of batches and bulk emails wait',
        '  quiet_zone               time zone of quiet_hours',
        '  retention_days           days after which recipients and texts are erased',
        `  caps.per_10_minutes      messages to one recipient, 1 to ${short.maxMessages}`,
        `  caps.per_24_hours        messages to one recipient, 1 to ${long.maxMessages}`,
        '  verifications.per_24_hours, verifications.per_100_numbers',
        '                           codes in 24 hours: in all, and to 100 numbers',
        '  prices.sms_part          credits for a part of an SMS',
        '  prices.email             credits for an email',
        '  holidays.<date>          multiplier of the SMS price on a day',
        '  operators.<name>         first two digits of its numbers',
        '  no_link_operators        operators that carry no links',
      ],
      examples: [
        [`${owner.command} set caps.per_10_minutes 20`, 'the highest cap'],
        [`${owner.command} set holidays.2026-12-29 1.5`, 'a dearer day'],
      ],
      exits: [8, 12],
      json: settingsExample,
    });
    command.action(async (name: string, values: string[], options: ProjectOptions) => {
      const change = changeOf(name, values);
      const { io } = context;
      const store = await ownedProject(context, options, owner.open);
      const settings = await store.project.settings.update(change);
      if (isChosen(context)) await io.print(settingsView, settings);
      else await printLines(io, settings, [name]);
      noteStore(io, store);
    });
  };
