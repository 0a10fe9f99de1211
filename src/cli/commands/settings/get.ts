import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { addProjectOption, ownedProject, type ProjectOptions } from '../service/project.js';
import { noteStore } from '../service/store.js';
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
    addProjectOption(command);
    owner.addOptions(command);
    addHelp(command, {
      view: settingsView,
      effects: ['reads'],
      examples: [
        [`${owner.command} get`, 'all settings'],
        [`${owner.command} get caps.per_10_minutes`, 'the bare value of one'],
      ],
      exits: [12],
      json: settingsExample,
    });
    command.action(async (name: string | undefined, options: ProjectOptions) => {
      const { io } = context;
      const store = await ownedProject(context, options, owner.open);
      const settings = await store.project.settings.get();
      if (isChosen(context))
        await io.print(name === undefined ? settingsView : oneSettingView(name), settings);
      else if (name === undefined) await printLines(io, settings, readSettingName.words);
      else await io.printer.text(`${settingText(settings, name)}\n`);
      noteStore(io, store);
    });
  };
