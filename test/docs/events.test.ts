import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Machine, outcomeOf, printed, root } from '../support/binary.js';
import { Feed, feedServer } from '../support/feed.js';
import { testFolder } from '../support/folders.js';
import { Loopback, type SeenRequest } from '../support/loopback.js';
import { commandsIn, problemOf } from '../support/printed-commands.js';
import { testKey } from '../support/run.js';
import { type Block, blocksOf } from './pages.js';

const blocks = blocksOf('docs/events.md');
const codeOf = (language: string, within: string) =>
  blocks.find((block: Block) => block.language === language && block.code.includes(within))?.code ?? '';

/** What a listener posts to a program at this address, with the secret of its signature. */
async function listenTo(address: string): Promise<{ said: string; secret: string }> {
  const machine = new Machine();
  onTestFinished(() => machine.remove());
  const feed = new Feed();
  feed.add();
  await using service = await feedServer({ [testKey]: feed });
  const child = machine.start(['events', 'listen', '--forward-to', address, '--from', 'start'], {
    env: { URTUU_BASE_URL: `${service.origin}/v1`, URTUU_API_KEY: testKey },
  });
  const said = await printed(child, 'stderr', /: taken|was not taken/);
  child.kill();
  await outcomeOf(child);
  const [, file = ''] = /secret: (.*)/.exec(said) ?? [];
  return { said, secret: readFileSync(file, 'utf8').trim() };
}

const example = (name: string) => readFileSync(join(root, 'examples', name), 'utf8');

/** The page's functions and those that it links, as programs that print whether they believe a request in a file. */
const languages: [string, string, string[], string, (code: string) => string][] = [
  [
    codeOf('js', 'webhook-signature'),
    process.execPath,
    [],
    'verify.mjs',
    (code) => `${code}
      import { readFileSync } from 'node:fs';
      const { secret, headers, body } = JSON.parse(readFileSync(process.argv[2]));
      console.log(String(isFromUrtuu(secret, headers, Buffer.from(body))));`,
  ],
  [
    example('verify_event.py'),
    'python3',
    [],
    'verify.py',
    (code) => `${code}
import json, sys
given = json.load(open(sys.argv[1]))
print(str(is_from_urtuu(given["secret"], given["headers"], given["body"].encode())).lower())`,
  ],
  [
    example('verify-event.php'),
    'php',
    ['-n', '-d', 'zend.assertions=-1'],
    'verify.php',
    (code) => `${code}
$given = json_decode(file_get_contents($argv[1]), true);
echo is_from_urtuu($given['secret'], $given['headers'], $given['body']) ? "true\\n" : "false\\n";`,
  ],
];

describe('docs/events.md', () => {
  it('has a program that takes events', async () => {
    const folder = testFolder();
    const free = await Loopback.listen(() => {});
    const { port } = new URL(free.origin);
    await free[Symbol.asyncDispose]();
    const code = codeOf('js', 'listen(3000').replace('3000', port).replace("'localhost'", "'127.0.0.1'");
    writeFileSync(join(folder, 'shop.mjs'), `${code}\nconsole.log('ready');`);
    const machine = new Machine();
    onTestFinished(() => machine.remove());
    const program = machine.start([], { binary: join(folder, 'shop.mjs') });
    await printed(program, 'stdout', /ready/);
    expect((await listenTo(`http://127.0.0.1:${port}/events`)).said).toContain('a00000000001-1: taken');
    await printed(program, 'stdout', /^message\.sent \S+$/m);
  });

  it('has functions that believe what a listener signed, and nothing else', async ({ skip }) => {
    await using program = await Loopback.listen((_, response) => response.writeHead(204).end());
    const { secret } = await listenTo(program.origin);
    const { headers, body } = program.requests[0] as SeenRequest;
    const old = String(Number(headers['webhook-timestamp']) - 600);
    const requests: [expected: string, request: object][] = [
      ['true', { secret, headers, body }],
      [
        'true',
        {
          secret,
          headers: { ...headers, 'webhook-signature': `v1,eA== ${headers['webhook-signature']}` },
          body,
        },
      ],
      ['false', { secret, headers, body: body.replace('message.sent', 'message.lost') }],
      ['false', { secret: `whsec_${'A'.repeat(43)}=`, headers, body }],
      ['false', { secret, headers: { ...headers, 'webhook-timestamp': old }, body }],
      ['false', { secret, headers: { ...headers, 'webhook-id': 'a-2' }, body }],
    ];
    const folder = testFolder();
    const missing: string[] = [];
    for (const [code, command, options, name, programOf] of languages) {
      expect(code, name).not.toBe('');
      writeFileSync(join(folder, name), programOf(code));
      for (const [at, [expected, request]] of requests.entries()) {
        writeFileSync(join(folder, 'request.json'), JSON.stringify(request));
        const words = [...options, join(folder, name), join(folder, 'request.json')];
        const { error, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
        if (error) missing.push(command);
        else
          expect({ name, at, stdout: stdout.trim(), stderr }).toEqual({
            name,
            at,
            stdout: expected,
            stderr: '',
          });
      }
    }
    if (missing.length > 0) skip(`missing: ${[...new Set(missing)].join(', ')}`);
  });

  it('has commands that the parser takes', async () => {
    const commands = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => commandsIn(code.replace(/ \| .*/g, '')));
    expect(commands.length).toBeGreaterThan(3);
    for (const command of commands)
      expect([command.line, await problemOf(command)]).toEqual([command.line, null]);
  });
});
