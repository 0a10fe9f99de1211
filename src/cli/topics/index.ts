import { exitMeanings } from '../exit-codes.js';
import { csv, environment, jobs, sandbox, templates } from './texts.js';

/** Help on what is not one command. */
export const topics: Readonly<Record<string, { summary: string; text: string }>> = {
  'exit-codes': { summary: 'what a script learns from how a command ends', text: exitCodes() },
  sandbox: { summary: 'the embedded service, to try everything without a key', text: sandbox },
  environment: { summary: 'environment variables and folders', text: environment },
  csv: { summary: 'what a bulk file may look like', text: csv },
  templates: { summary: 'texts with a column of each row in them', text: templates },
  jobs: { summary: 'how a bulk send survives whatever happens', text: jobs },
};

function exitCodes(): string {
  const rows = Object.entries(exitMeanings).map(([code, meaning]) => `  ${code.padStart(2)}  ${meaning}`);
  return `Exit codes

${rows.join('\n')}

Stopped by Ctrl-C or SIGTERM, the process dies by that signal (a shell shows 130 or 143).

Only 6 leaves open whether something was sent. Repeating the command with the idempotency
key that the message names cannot send it twice.
`;
}
