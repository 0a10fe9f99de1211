import { Help } from 'commander';
import { exitMeanings } from '../exit-codes.js';
import { csv, environment, exitCodesEnd, jobs, sandbox, templates } from './texts.js';

export const topics: Readonly<Record<string, { summary: string; text: () => string }>> = {
  'exit-codes': { summary: 'exit codes, for scripts', text: exitCodes },
  sandbox: { summary: 'try everything without a key', text: () => sandbox },
  environment: { summary: 'environment variables and folders', text: () => environment },
  csv: { summary: 'format of bulk files', text: () => csv },
  templates: { summary: 'texts with columns of the file', text: () => templates },
  jobs: { summary: 'how bulk sends resume after a failure', text: () => jobs },
};

function exitCodes(): string {
  const helper = new Help();
  helper.prepareContext({ helpWidth: 80 });
  const rows = Object.entries(exitMeanings).map(([code, meaning]) =>
    helper.formatItem(code.padStart(2), 2, meaning, helper),
  );
  return `Exit codes\n\n${rows.join('\n')}\n\n${exitCodesEnd}`;
}
