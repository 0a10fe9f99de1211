import type { Command } from 'commander';
import { visibleCommands } from './command-tree.js';

type Row = readonly [names: string, summary: string];

/** The commands by purpose, several on a line, so that everything fits on a screen. */
const groups: readonly (readonly [title: string, rows: readonly Row[]])[] = [
  [
    'Send',
    [
      ['sms send, sms bulk', 'Send one SMS, or one to every row of a file'],
      ['email send, email bulk', 'Send one email, or one to every row'],
      ['verify', 'Send and check verification codes'],
      ['sendmail', 'Send standard input by email, for cron'],
    ],
  ],
  [
    'Look up',
    [
      ['messages, batches, inbox', 'Show what was sent and received'],
      ['history, balance, pricing', 'Show sends from here, credits, prices'],
      ['events, open, api', 'Listen, open the dashboard, call the API'],
    ],
  ],
  ['Jobs', [['jobs', 'Follow, resume and report bulk sends']]],
  [
    'Set up',
    [
      ['login, logout, profiles', 'Save API keys, switch between them'],
      ['whoami, doctor, completion', 'Check the setup, complete commands'],
    ],
  ],
  [
    'Service',
    [
      ['serve, dashboard', 'Run the service on this machine'],
      ['service, keys', 'Manage the service and its API keys'],
      ['sandbox', 'Show, credit and reset the embedded service'],
    ],
  ],
];

/** Narrower terminals see no summaries. */
export const wide = 80;

/** The output of `urtuu` alone. */
export function overview(program: Command, width: number): string {
  const known = groupsOf(program);
  const titles = Math.max(...known.map(({ title }) => title.length)) + 2;
  const names = Math.max(...known.flatMap(({ rows }) => rows.map(([each]) => each.length))) + 2;
  const lines = known.flatMap(({ title, rows }) =>
    width < wide
      ? [title, ...rows.map(([each]) => `  ${each}`)]
      : rows.map(
          ([each, summary], index) =>
            `${(index === 0 ? title : '').padEnd(titles)}${each.padEnd(names)}${summary}`,
        ),
  );
  return [
    width < wide ? 'Send SMS and email' : 'Send SMS and email, one message or one to every row of a CSV file',
    '',
    'Usage: urtuu <command> [options]',
    '',
    ...lines,
    '',
    'Try it without a key:',
    `  urtuu --sandbox sms send 99112233 '${width < wide ? 'Hi' : 'Сайн уу'}'`,
    '  urtuu sandbox outbox',
    '',
    ...(width < wide
      ? ['urtuu <command> --help', 'urtuu help: topics, global options', 'urtuu commands: all, for programs']
      : ['More: urtuu <command> --help, urtuu help (topics, options), urtuu commands']),
    '',
  ].join('\n');
}

/** Commands named in the last lines. */
const namedBelow = ['help', 'commands'];

/** Without commands that this version lacks, and including those that no group names. */
function groupsOf(program: Command): { title: string; rows: Row[] }[] {
  const commands = visibleCommands(program).filter((command) => !namedBelow.includes(command.name()));
  const left = new Map(commands.map((command) => [command.name(), command.summary()]));
  const grouped = groups.map(([title, rows]) => ({
    title,
    rows: rows.flatMap(([names, summary]): Row[] => {
      const found = names.split(', ').filter((name) => commands.some((each) => isNamed(each, name)));
      for (const name of found) left.delete(name.split(' ')[0] ?? '');
      return found.length === 0 ? [] : [[found.join(', '), summary]];
    }),
  }));
  return [...grouped, { title: 'Other', rows: [...left] }].filter(({ rows }) => rows.length > 0);
}

const isNamed = (command: Command, name: string) => command.name() === name.split(' ')[0];
