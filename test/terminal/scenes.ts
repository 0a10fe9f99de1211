import fc from 'fast-check';
import { json, Loopback } from '../support/loopback.js';
import { errorBody } from '../support/resources.js';
import { actingCharacters, hostileRecord } from '../torture/text/hostile.js';
import { Complaints, Stage, type Wrapper } from './stage.js';
import { Tmux } from './tmux.js';

interface Scene {
  stage: Stage;
  tmux: Tmux;
  seed: number;
  expect(isRight: boolean, otherwise: string): void;
}
type Play = (scene: Scene) => Promise<void>;

const perSecond = 20;
const bulk = (stage: Stage, file: string, job: string) => [
  ...[stage.command, 'sms', 'bulk', file, '--text', 'Hi {n}', '--job', job, '--rate', String(perSecond)],
];
const yes = ['y', 'Enter'];

/** At the question Enter and Ctrl-C send nothing, and yes sends once. */
const question: Play = async ({ stage, tmux, expect }) => {
  const ask = async (keys: string[], job: string) => {
    const people = stage.people(3);
    const pane = await tmux.open(bulk(stage, stage.list(job, people), job), stage.environment);
    await pane.until(/\(y\/N\)/);
    await pane.press(...keys);
    return { ...(await pane.ended()), sent: String(await stage.messagesTo(people)) };
  };
  const [enter, interrupt, agreed] = await Promise.all([
    ask(['Enter'], 'enter'),
    ask(['C-c'], 'interrupt'),
    ask(yes, 'agreed'),
  ]);
  expect(enter.code === 2 && enter.sent === '0,0,0', `Enter at the question: ${JSON.stringify(enter)}`);
  const died = interrupt.signal === 'SIGINT' && interrupt.sent === '0,0,0';
  expect(died, `Ctrl-C at the question: ${JSON.stringify(interrupt)}`);
  expect(agreed.code === 0 && agreed.sent === '1,1,1', `yes at the question: ${JSON.stringify(agreed)}`);
};

/** Ctrl-C in a job dies by the signal, says how to go on, and going on sends the rest once. */
const interrupted: Play = async ({ stage, tmux, expect }) => {
  const people = stage.people(200);
  const pane = await tmux.open(bulk(stage, stage.list('stopped', people), 'stopped'), stage.environment);
  await pane.until(/\(y\/N\)/);
  await pane.press(...yes);
  await pane.until(/█/);
  await pane.press('C-c');
  const { code, signal } = await pane.ended();
  expect(signal === 'SIGINT', `Ctrl-C in a job ended it with ${code ?? signal}`);
  const screen = await pane.screen('joined');
  expect(
    /urtuu jobs resume stopped --rate 20 --base-url \S+$/.test(screen),
    `Ctrl-C in a job left this at the end:\n${screen}`,
  );
  const sent = (await stage.messagesTo(people)).filter((count) => count > 0).length;
  expect(sent > 0 && sent < people.length, `Ctrl-C in a job came too early or too late: ${sent} sent`);
  const rest = await tmux.open(
    [stage.command, 'jobs', 'resume', 'stopped', '--yes', '--rate', '500'],
    stage.environment,
  );
  const ended = await rest.ended();
  expect(ended.code === 0, `the stopped job resumed: ${JSON.stringify(ended)}`);
  const got = await stage.messagesTo(people);
  expect(
    got.every((count) => count === 1),
    `the stopped and resumed job sent ${got}`,
  );
};

/** While the service does not answer, the first Ctrl-C waits for it and the second one does not. */
const interruptedTwice: Play = async ({ stage, tmux, expect }) => {
  await using deaf = await Loopback.listen(({ method }, response) => {
    if (method === 'GET') json(response, 403, errorBody('forbidden'));
  });
  const url = `${deaf.origin}/v1`;
  const words = [...bulk(stage, stage.list('deaf', stage.people(40)), 'deaf'), '--yes'];
  const pane = await tmux.open(words, { ...stage.environment, URTUU_BASE_URL: url });
  await pane.until(/[█░]/);
  await pane.press('C-c');
  await pane.until(/stopping/);
  await pane.press('C-c');
  const { code, signal } = await pane.ended();
  expect(signal === 'SIGINT', `Ctrl-C twice ended a job with ${code ?? signal}`);
  const shown = await tmux.open([stage.command, 'jobs', 'show', 'deaf'], stage.environment);
  const ended = await shown.ended();
  const screen = await shown.screen();
  expect(ended.code === 0 && /40/.test(screen), `the job after Ctrl-C twice:\n${screen}`);
};

/** Nothing of the display stays on the screen, and nothing else goes with it. */
const resizedBar: Play = async ({ stage, tmux, expect }) => {
  const people = stage.people(400);
  const words = bulk(stage, stage.list('resized', people), 'resized');
  const pane = await tmux.open(words, stage.environment, { columns: 100 });
  const before = await pane.until(/\(y\/N\)/);
  await pane.press(...yes);
  for (const columns of [60, 38, 120, 50, 100]) {
    await pane.until(/█/);
    await pane.resize(columns, 24);
    // Two frames of the display at this width.
    await pane.changes(2);
  }
  await pane.press('C-c');
  const { code, signal } = await pane.ended();
  await pane.resize(160, 40);
  const screen = await pane.screen();
  expect(signal === 'SIGINT', `the resized job ended with ${code ?? signal}`);
  expect(!/[█░⠀-⣿]/.test(screen), `a resize left parts of the display:\n${screen}`);
  const kept = before.split('\n').filter((line) => !/\(y\/N\)/.test(line));
  for (const line of kept) expect(screen.includes(line), `a resize took away '${line}' from:\n${screen}`);
};

/** A table is as wide as the terminal is when it is printed. */
const resizedTable: Play = async ({ stage, tmux, expect }) => {
  const [number = ''] = stage.people(1);
  const words = ['sms', 'send', number, 'hi', '--json'];
  const { stdout } = await stage.machine.run(words, { env: stage.environment });
  const ids = Array.from({ length: 40 }, () => (JSON.parse(stdout) as { id: string }).id);
  const pane = await tmux.open([stage.command, 'messages', 'get', ...ids], stage.environment, {
    columns: 160,
  });
  await pane.until(/[█░]/);
  await pane.resize(60, 24);
  const { code } = await pane.ended();
  expect(code === 0, `messages get ended with ${code}`);
  const lines = (await pane.screen('joined')).split('\n');
  const long = lines.filter((line) => line.length > 60);
  expect(long.length === 0, `lines broken by a resize to 60 columns:\n${long.join('\n')}`);
  expect(
    lines.filter((line) => line.includes(number)).length === 40,
    `rows are missing in:\n${lines.join('\n')}`,
  );
};

/** What a service, or somebody between, may send to take over a terminal. */
const hostile: Play = async ({ stage, tmux, seed, expect }) => {
  const records = fc.sample(hostileRecord, { seed, numRuns: 6 });
  await using server = await Loopback.listen(({ method, path }, response) => {
    const record = records[Number(/(\d)$/.exec(path)?.[1] ?? 0)] ?? records[0];
    if (method === 'GET') json(response, 200, record);
    else json(response, 400, { error: { code: 'x', message: JSON.stringify(record) } });
  });
  const url = `${server.origin}/v1`;
  const lines = [
    ['messages', 'get', 'm0', 'm1', 'm2'],
    ['messages', 'get', 'm3', '--json'],
    ['batches', 'get', 'm4', '-v'],
    ['verify', 'get', 'm5', '-o', 'csv'],
    ['sms', 'send', '99112233', 'hi', '--max-retries', '0'],
    ['sms', 'send', '99112233', '--text-file', '\u001b]0;a\u0007\u202e'],
  ];
  await Promise.all(
    lines.map(async (words) => {
      const env = { ...stage.environment, URTUU_BASE_URL: url, NO_COLOR: '1' };
      const pane = await tmux.open([stage.command, ...words], env);
      await pane.ended();
      const acting = actingCharacters(withoutDisplay(pane.bytes()));
      expect(acting === 0, `${words.join(' ')}: ${acting} control characters at the terminal`);
    }),
  );
};

/** The bytes without those by which our own display draws and goes away, and without returns at line ends. */
function withoutDisplay(bytes: string): string {
  return bytes
    .replaceAll(/\u001b\[\?7l|\u001b\[\?7h\r|\r\u001b\[K\u001b\[J|\u001b\[\?25[hl]|\u001b\[\?2026[hl]/g, '')
    .replaceAll(/\r+\n/g, '\n');
}

const scenes = { question, interrupted, interruptedTwice, resizedBar, resizedTable, hostile };
export type SceneName = keyof typeof scenes;

/** Plays scenes side by side, each on terminals of its own. */
export async function playScenes(options: {
  seed: number;
  wrapper?: Wrapper;
  program?: string[];
  only?: SceneName[];
}): Promise<Complaints> {
  const complaints = new Complaints();
  const stage = await Stage.set(options.wrapper ?? 'none', options.program);
  const tmux = new Tmux();
  try {
    const chosen = Object.entries(scenes).filter(
      ([name]) => options.only?.includes(name as SceneName) ?? true,
    );
    await Promise.all(
      chosen.map(async ([name, play]) => {
        const expect: Scene['expect'] = (isRight, otherwise) => complaints.expect(isRight, otherwise);
        await play({ stage, tmux, seed: options.seed, expect }).catch((error: Error) =>
          expect(false, `${name}: ${error.message}`),
        );
      }),
    );
    return complaints;
  } finally {
    await tmux.close();
    await stage.close();
  }
}
