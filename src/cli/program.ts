import { Command, type Option } from 'commander';
import pkg from '../../package.json' with { type: 'json' };
import { type Group, type Leaf, loadBody, setBody } from './command.js';
import { serviceCommands } from './commands/service/commands.js';
import type { Context } from './context.js';
import { globalOptionNote } from './help/command-help.js';
import { commandsOf, setCommands } from './help/command-tree.js';
import { overview, wide } from './help/overview.js';
import { readDuration, writtenDuration } from './input/duration.js';
import { addGlobalOptions } from './options.js';

const tree: readonly (Leaf | Group)[] = [
  [
    'sms',
    'Send SMS',
    [
      ['send', 'Send one SMS', async () => (await import('./commands/sms/send.js')).smsSend],
      [
        'bulk',
        'Send an SMS to every row of a file',
        async () => (await import('./commands/sms/bulk.js')).smsBulk,
      ],
    ],
  ],
  [
    'email',
    'Send email',
    [
      ['send', 'Send one email', async () => (await import('./commands/email/send.js')).emailSend],
      [
        'bulk',
        'Send an email to every row of a file',
        async () => (await import('./commands/email/bulk.js')).emailBulk,
      ],
    ],
  ],
  [
    'verify',
    'Send and check verification codes',
    [
      ['create', 'Send a code', async () => (await import('./commands/verify/create.js')).verifyCreate],
      ['check', 'Check a code', async () => (await import('./commands/verify/check.js')).verifyCheck],
      ['get', 'Show a verification', async () => (await import('./commands/verify/get.js')).verifyGet],
    ],
  ],
  [
    'messages',
    'Look up messages',
    [
      ['get', 'Show messages', async () => (await import('./commands/messages/get.js')).messagesGet],
      ['list', 'List messages', async () => (await import('./commands/messages/list.js')).messagesList],
    ],
  ],
  [
    'batches',
    'Look up batches',
    [
      ['get', 'Show batches', async () => (await import('./commands/batches/get.js')).batchesGet],
      ['list', 'List batches', async () => (await import('./commands/batches/list.js')).batchesList],
    ],
  ],
  [
    'inbox',
    'Look up received messages',
    [['list', 'List the messages', async () => (await import('./commands/inbox/list.js')).inboxList]],
  ],
  [
    'events',
    'Listen to what happens',
    [
      [
        'listen',
        'Print events, or hand them to a program',
        async () => (await import('./commands/events/listen.js')).eventsListen,
      ],
      [
        'skip',
        'Skip an event that is never taken',
        async () => (await import('./commands/events/skip.js')).eventsSkip,
      ],
    ],
  ],
  [
    'history',
    'Show what this machine sent',
    async () => (await import('./commands/history/list.js')).history,
  ],
  [
    'whoami',
    'Show profile, service, key and balance',
    async () => (await import('./commands/whoami/show.js')).whoami,
  ],
  ['api', 'Make a raw request', async () => (await import('./commands/api/request.js')).api],
  ['balance', 'Show the credit balance', async () => (await import('./commands/balance/get.js')).balance],
  ['pricing', 'Show prices', async () => (await import('./commands/pricing/get.js')).pricing],
  [
    'jobs',
    'Manage the bulk jobs of this machine',
    [
      ['list', 'List the jobs', async () => (await import('./commands/jobs/list.js')).jobsList],
      ['show', 'Show the progress of a job', async () => (await import('./commands/jobs/show.js')).jobsShow],
      [
        'watch',
        'Follow a job until it ends',
        async () => (await import('./commands/jobs/watch.js')).jobsWatch,
      ],
      ['cancel', 'Cancel a job', async () => (await import('./commands/jobs/cancel.js')).jobsCancel],
      [
        'retry',
        'Send failed messages of a job again',
        async () => (await import('./commands/jobs/retry.js')).jobsRetry,
      ],
      ['resume', 'Resume a job', async () => (await import('./commands/jobs/resume.js')).jobsResume],
      [
        'report',
        'Write the outcome of every row',
        async () => (await import('./commands/jobs/report.js')).jobsReport,
      ],
      ['remove', 'Remove jobs', async () => (await import('./commands/jobs/remove.js')).jobsRemove],
    ],
  ],
  ['login', 'Save an API key in a profile', async () => (await import('./commands/profiles/login.js')).login],
  [
    'logout',
    'Remove a profile and its key',
    async () => (await import('./commands/profiles/logout.js')).logout,
  ],
  [
    'profiles',
    'Manage profiles: base URLs and keys by name',
    [
      ['list', 'List the profiles', async () => (await import('./commands/profiles/list.js')).profilesList],
      ['use', 'Switch to a profile', async () => (await import('./commands/profiles/use.js')).profilesUse],
      ['show', 'Show a profile', async () => (await import('./commands/profiles/show.js')).profilesShow],
    ],
  ],
  [
    'doctor',
    'Check the setup: key, service, clock, rate limit',
    async () => (await import('./commands/doctor/run.js')).doctor,
  ],
  ['serve', 'Run the service on this machine', async () => (await import('./commands/serve/serve.js')).serve],
  ['open', 'Open the dashboard of the service', async () => (await import('./commands/open/page.js')).open],
  [
    'dashboard',
    'Sign in to the dashboard of this machine',
    async () => (await import('./commands/dashboard/open.js')).dashboard,
  ],
  ['service', 'Manage the service of this machine', serviceCommands],
  [
    'sandbox',
    'Show, credit and reset the embedded service',
    [
      [
        'outbox',
        'Show delivered messages',
        async () => (await import('./commands/sandbox/outbox.js')).sandboxOutbox,
      ],
      [
        'reset',
        'Delete all messages',
        async () => (await import('./commands/sandbox/reset.js')).sandboxReset,
      ],
      [
        'credit',
        'Add credits, or set the balance',
        async () => (await import('./commands/sandbox/credit.js')).sandboxCredit,
      ],
      [
        'settings',
        'Show and change settings: caps, prices, sender',
        [
          [
            'get',
            'Show settings',
            async () => (await import('./commands/sandbox/settings.js')).sandboxSettingsGet,
          ],
          [
            'set',
            'Change a setting',
            async () => (await import('./commands/sandbox/settings.js')).sandboxSettingsSet,
          ],
        ],
      ],
    ],
  ],
  [
    'keys',
    'Manage API keys of the service on this machine',
    [
      ['create', 'Create a key', async () => (await import('./commands/keys/create.js')).keysCreate],
      ['list', 'List the keys', async () => (await import('./commands/keys/list.js')).keysList],
      ['revoke', 'Revoke a key', async () => (await import('./commands/keys/revoke.js')).keysRevoke],
      [
        'example',
        'Print a key for tests',
        async () => (await import('./commands/keys/example.js')).keysExample,
      ],
    ],
  ],
  [
    'sendmail',
    'Send a message from standard input, for cron',
    async () => (await import('./commands/sendmail/send.js')).sendmail,
  ],
  [
    'completion',
    'Print a completion script for bash, zsh, fish or PowerShell',
    async () => (await import('./commands/completion/print.js')).completion,
  ],
  [
    'commands',
    'List the commands, for programs that call them',
    async () => (await import('./commands/commands/list.js')).commands,
  ],
  ['help', 'Show help on a topic or a command', async () => (await import('./commands/help.js')).help],
  ['__complete', '', async () => (await import('./commands/completion/complete.js')).complete],
];

/** With the default as it would be typed on a command line. */
function optionDescription({ description, defaultValue, parseArg }: Option): string {
  if (defaultValue === undefined || typeof defaultValue === 'boolean') return description;
  const written =
    typeof defaultValue === 'number' && parseArg === (readDuration as unknown)
      ? writtenDuration(defaultValue)
      : String(defaultValue);
  return `${description} (default ${written})`;
}

/** Commander only prints help here; it throws errors. */
export interface ProgramOutput {
  write(text: string): void;
  width: number;
}

interface Called {
  /** The first word of the command line. */
  first: string | undefined;
  onCommand(command: Command): void;
}

/**
 * Each command parses the words after its name itself, so that a text that looks like a global option remains a text.
 */
export function buildProgram(context: Context, output: ProgramOutput, { first, onCommand }: Called): Command {
  const program: Command = new Command('urtuu')
    .version(pkg.version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: output.write,
      writeErr: () => {},
      // On a narrower terminal, pages are rewrapped.
      getOutHelpWidth: () => Math.max(output.width, wide),
      // Help has no colours to strip.
      getOutHasColors: () => true,
    })
    .configureHelp({ optionDescription, subcommandTerm: (command) => command.name() })
    .enablePositionalOptions()
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .showSuggestionAfterError(false);
  program.helpInformation = () => overview(program, output.width);
  addGlobalOptions(program);
  const add = (parent: Command, [name, summary, inside]: Leaf | Group) => {
    const hidden = name.startsWith('_');
    const command = parent.command(name, { hidden }).summary(summary).description(`${summary}.`);
    if (typeof inside === 'function') {
      setBody(command, inside);
      return;
    }
    command
      .usage('<command> [options]')
      .enablePositionalOptions()
      .helpCommand(false)
      .addHelpText('after', `\n${globalOptionNote}`);
    setCommands(command, () => {
      for (const leaf of inside) add(command, leaf);
    });
    loadBefore(command);
  };
  const loadBefore = (parent: Command) =>
    parent.hook('preSubcommand', async (_, command) => {
      onCommand(command);
      await loadBody(command, context);
    });
  loadBefore(program);
  const called = tree.filter(([name]) => name === first);
  for (const entry of called) add(program, entry);
  setCommands(program, () => {
    for (const entry of tree) if (!called.includes(entry)) add(program, entry);
  });
  if (called.length === 0) commandsOf(program);
  return program;
}
