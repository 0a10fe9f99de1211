import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { loadBody } from '../command.js';
import type { Context } from '../context.js';
import { formats } from '../options.js';
import { recentIds } from '../recent.js';
import { topics } from '../topics/index.js';
import { shells } from './scripts.js';

type Source = (context: Context, program: Command) => Promise<readonly string[]> | readonly string[];

const profiles: Source = async (context) => Object.keys((await context.config.read()).profiles);
const jobs: Source = async (context) => {
  try {
    const names = await readdir(join(context.config.stateDirectory, 'jobs'));
    return names.filter((name) => !name.startsWith('.'));
  } catch {
    return [];
  }
};
const ids: Source = (context) => recentIds(context.config);

const argumentSources: Readonly<Record<string, Source>> = {
  'messages get': ids,
  'batches get': ids,
  'verify get': ids,
  'verify check': ids,
  'profiles use': profiles,
  'profiles show': profiles,
  'jobs show': jobs,
  'jobs resume': jobs,
  'jobs report': jobs,
  'jobs remove': jobs,
  completion: () => shells,
  help: (_, program) => [...Object.keys(topics), ...visibleNames(program)],
};
const optionSources: Readonly<Record<string, Source>> = {
  '--profile': profiles,
  '--output': () => formats,
  '--job': jobs,
  '--channel': () => ['sms', 'email'],
};

/** A name that needs no quoting in any shell. */
const plain = /^[\w.@:+-]+$/;

/** What can stand in place of the last word; nothing where a file may stand. */
export async function candidates(
  program: Command,
  context: Context,
  words: readonly string[],
): Promise<string[]> {
  const current = words.at(-1) ?? '';
  const { command, path, pending } = await walk(program, context, words.slice(0, -1));
  const found = await possible(program, context, { command, path, pending, current });
  return found.filter((each) => each.startsWith(current) && plain.test(each));
}

interface Place {
  command: Command;
  path: string[];
  /** The option whose value comes next. */
  pending: Option | undefined;
}

/** Follows the words down the tree of commands. */
async function walk(program: Command, context: Context, words: readonly string[]): Promise<Place> {
  let command = program;
  let pending: Option | undefined;
  const path: string[] = [];
  for (const word of words) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const option = command.options.find((each) => each.long === word || each.short === word);
      pending = option?.required ? option : undefined;
      continue;
    }
    const next = command.commands.find((each) => each.name() === word && !isHidden(each));
    if (next === undefined) continue;
    command = next;
    path.push(word);
    await loadBody(command, context);
  }
  return { command, path, pending };
}

async function possible(
  program: Command,
  context: Context,
  { command, path, pending, current }: Place & { current: string },
): Promise<readonly string[]> {
  if (pending !== undefined) return (await optionSources[pending.long ?? '']?.(context, program)) ?? [];
  if (current.startsWith('-')) return [...command.options.flatMap(({ long }) => long ?? []), '--help'];
  if (command.commands.length > 0) return visibleNames(command);
  return (await argumentSources[path.join(' ')]?.(context, program)) ?? [];
}

const visibleNames = (command: Command): string[] =>
  command.commands.filter((each) => !isHidden(each)).map((each) => each.name());

const isHidden = (command: Command) => command.name().startsWith('_');
