import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createVitest } from 'vitest/node';
import { parse } from 'yaml';

const root = resolve(import.meta.dirname, '..');

/** The test files of each project that a mode of vitest chooses. */
async function filesOf(mode: string): Promise<Map<string, string[]>> {
  const vitest = await createVitest('test', { root, mode, watch: false, reporters: [] });
  onTestFinished(() => vitest.close());
  const files = new Map<string, string[]>();
  for (const { project, moduleId } of await vitest.globTestSpecifications())
    files.set(project.name, [...(files.get(project.name) ?? []), relative(root, moduleId)]);
  return files;
}

interface Job {
  strategy?: { matrix?: Record<string, (string | number)[]> };
  steps: { run?: string }[];
}

it('every test file plays in a project, and every project in a job of the workflow', async () => {
  const workflow = readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8');
  const jobs = Object.values((parse(workflow) as { jobs: Record<string, Job> }).jobs);
  const played: string[] = [];
  for (const mode of ['test', 'all'])
    for (const [project, files] of await filesOf(mode)) {
      const command =
        mode === 'all' ? /^npm run test:all -- --project \$\{\{ matrix\.project \}\}$/ : /^npm test$/;
      const job = jobs.find(({ steps }) => steps.some(({ run }) => command.test(run ?? '')));
      expect(job, String(command)).toBeDefined();
      if (mode === 'all') expect(job?.strategy?.matrix?.project).toContain(project);
      played.push(...files);
    }
  const peers = [...(await filesOf('peers')).values()].flat();
  const written = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name));
  expect(written.length).toBeGreaterThan(300);
  expect(written.filter((file) => !played.includes(file) && !peers.includes(file))).toEqual([]);
});
