import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { type DataOptions, noteStore } from '../sandbox/data.js';
import {
  isChosen,
  oneSettingView,
  printLines,
  readSettingName,
  type SettingsOwner,
  settingsExample,
  settingsView,
  settingText,
} from './setting.js';

export const settingsGet =
  (owner: SettingsOwner): CommandBody<'options' | 'io' | 'network' | 'config'> =>
  (command, context) => {
    command.argument('[name]', 'name of one setting (default: all)', readSettingName);
    owner.addDataOption(command);
    addHelp(command, {
      view: settingsView,
      examples: [
        [`${owner.command} get`, 'all settings'],
        [`${owner.command} get caps.per_10_minutes`, 'the bare value of one'],
      ],
      exits: [],
      json: settingsExample,
    });
    command.action(async (name: string | undefined, data: DataOptions) => {
      const { io, network, config } = context;
      const store = await owner.open(network, config, data);
      const settings = await store.administration.settings.get();
      if (isChosen(context))
        await io.print(name === undefined ? settingsView : oneSettingView(name), settings);
      else if (name === undefined) await printLines(io, settings, readSettingName.words);
      else await io.printer.text(`${settingText(settings, name)}\n`);
      noteStore(io, store);
    });
  };
