import { Help } from 'commander';
import { exitMeanings } from '../exit-codes.js';
import { globalOptionTable } from '../options.js';
import { csv, environment, exitCodesEnd, jobs, sandbox, templates } from './texts.js';

export const topics: Readonly<Record<string, { summary: string; text: () => string }>> = {
  options: { summary: 'options of every command', text: options },
  'exit-codes': { summary: 'exit codes, for scripts', text: exitCodes },
  sandbox: { summary: 'try everything without a key', text: () => sandbox },
  environment: { summary: 'environment variables and folders', text: () => environment },
  csv: { summary: 'format of bulk files', text: () => csv },
  templates: { summary: 'texts with columns of the file', text: () => templates },
  jobs: { summary: 'how bulk sends resume after a failure', text: () => jobs },
};

function options(): string {
  const widest = Math.max(...globalOptionTable.map(([flags]) => flags.length));
  return `Global options\n\nEvery command takes these, before or after its name.\n\n${rows(globalOptionTable, widest)}\n`;
}

function exitCodes(): string {
  const meanings = Object.entries(exitMeanings).map(
    ([code, meaning]) => [code.padStart(2), meaning] as const,
  );
  return `Exit codes\n\n${rows(meanings, 2)}\n\n${exitCodesEnd}`;
}

function rows(entries: readonly (readonly [string, string])[], widest: number): string {
  const helper = new Help();
  helper.prepareContext({ helpWidth: 80 });
  return entries.map(([name, meaning]) => helper.formatItem(name, widest, meaning, helper)).join('\n');
}
