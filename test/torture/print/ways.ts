import { testKey } from '../../support/run.js';

/** The project that a run is for, and one of somebody else, whose profile the next shell has in use. */
export const ours = { baseUrl: 'http://127.0.0.1:7799/v1', key: testKey };
export const theirs = { baseUrl: 'http://127.0.0.1:7798/v1', key: `urtuu_${'B'.repeat(40)}` };

/** What leads a command to its project and its folders; `HOME` in a value is the home of the machine. */
export interface Way {
  env: Record<string, string>;
  options?: string[];
  /** The profile in use. */
  current?: string;
  /** Only this configuration folder has the profile of the project. */
  config?: string;
}

const state = { XDG_STATE_HOME: 'HOME/the төлөв' };
const config = 'the тохиргоо';

export const ways: readonly Way[] = [
  { env: {}, current: 'work' },
  { env: { URTUU_PROFILE: 'work' } },
  { env: {}, options: ['--profile', 'work'] },
  { env: { URTUU_API_KEY: ours.key, URTUU_BASE_URL: ours.baseUrl } },
  { env: {}, options: ['--base-url', ours.baseUrl, '--api-key-file', 'the key'] },
  { env: state, current: 'work' },
  { env: { ...state, XDG_CONFIG_HOME: `HOME/${config}` }, current: 'work', config },
];
