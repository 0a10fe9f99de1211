import { join } from 'node:path';
import { Argument } from 'commander';
import { isLoopback } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { field, type View } from '../../output/view.js';
import { writePrivateFile } from '../../platform/write-private-file.js';
import { addProjectOption, ownedProject, type ProjectOptions } from '../service/project.js';
import { addStoreOptions } from '../service/store.js';

interface DashboardOptions extends ProjectOptions {
  open: boolean;
  allProjects?: boolean;
  readOnly?: boolean;
  end?: string;
}

const view: View<{ url: string }> = { columns: [field('url')], record: (link) => link };

export const dashboard: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description(
      'Print a link that signs in to the dashboard of urtuu serve. It works once, within 10 minutes.',
    )
    .addArgument(
      new Argument('[what]', 'sessions: list open sessions and links, and end them with --end').choices([
        'sessions',
      ]),
    )
    .option('--end <id>', 'with sessions: end one of them, or all')
    .option('--no-open', 'print the link, and do not open it')
    .option('--all-projects', 'let the session switch between all projects')
    .option('--read-only', 'let the session look, but not change or send anything');
  addStoreOptions(command);
  addProjectOption(command);
  addHelp(command, {
    view,
    effects: ['changes'],
    notes: [
      'On a terminal the link opens in your browser. A session sees one project, for',
      '12 hours; with --all-projects it can switch.',
      'With `sessions` it lists open sessions and unused links of all projects; --end',
      'ends one of them, or all, from the next request on. Keys made there still work.',
    ],
    examples: [
      ['urtuu dashboard', 'open the dashboard of urtuu serve on this machine'],
      ['urtuu dashboard --project Shop --no-open', 'a link for somebody else'],
      ['urtuu dashboard sessions', 'who is signed in, to any project, and the keys made there'],
    ],
    exits: [5, 12],
    json: '{"url": "http://127.0.0.1:7788/dashboard/sign-in?token=..."}',
  });
  command.action(async (what: string | undefined, given: DashboardOptions) => {
    const { open, allProjects = false, readOnly = false, end, ...options } = given;
    if (what === 'sessions') {
      if (allProjects || readOnly || options.project !== undefined)
        throw usageError('sessions makes no link', 'Leave out --all-projects, --project and --read-only.');
      return (await import('./sessions.js')).sessions(context, options, end);
    }
    if (end !== undefined)
      throw usageError('--end belongs to sessions', 'Write: `urtuu dashboard sessions --end <id>`');
    const { io, network } = context;
    if (allProjects && options.project !== undefined)
      throw usageError('--all-projects and --project cannot be combined', 'Use one of the two.');
    const { project } = await ownedProject(context, options);
    const url = await project.createDashboardLink({ allProjects, readOnly });
    if (url === null) throw noDashboard('this service has no dashboard yet');
    const { origin, hostname } = new URL(url);
    // Without the token, since another program may have that port now.
    const answer = await network.answerOf(`${origin}/dashboard/sign-in`);
    if (answer !== 200) {
      const [code, reason] =
        typeof answer === 'number' ? [null, `HTTP ${answer}`] : [answer.code, answer.reason];
      // Any other failure means that it is there: browsers know other certificates, and ask about unknown ones.
      if (isLoopback(hostname) && (code === null || code === 'ECONNREFUSED'))
        throw noDashboard(`no dashboard answers at ${origin}: ${reason}`);
      io.warn(`No dashboard answers at ${origin} from here: ${reason}.`);
    }
    await io.print(view, { url });
    const isOpened = open && io.printer.isTerminal && (await opened(context, url).catch(() => false));
    io.note(
      isOpened
        ? 'Opened in your browser. The link works once, within 10 minutes.'
        : 'The link works once, within 10 minutes.',
    );
  });
};

const noDashboard = (message: string) =>
  new CliError('no_dashboard', exits.later, message, {
    hint: 'Start the service: `urtuu serve`; beyond this machine with --dashboard and --public-url.',
  });

/** Uses a private file, because other users of the machine can see the arguments of browsers. */
async function opened({ io, config }: Parameters<typeof dashboard>[1], url: string): Promise<boolean> {
  const file = join(config.stateDirectory, 'dashboard.html');
  await writePrivateFile(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`);
  return io.openInBrowser(file);
}
