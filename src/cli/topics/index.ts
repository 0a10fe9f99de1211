import { exitMeanings } from '../exit-codes.js';
import { csv, environment, exitCodesEnd, jobs, sandbox, templates } from './texts.js';

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
  const indent = ' '.repeat(6);
  const rows = Object.entries(exitMeanings).map(
    ([code, meaning]) => `  ${code.padStart(2)}  ${broken(meaning, 74).join(`\n${indent}`)}`,
  );
  return `Exit codes\n\n${rows.join('\n')}\n\n${exitCodesEnd}`;
}

/** A text in lines of at most so many characters. */
function broken(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  return lines;
}
