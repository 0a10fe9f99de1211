/** What differs between the systems the command runs on, as facts; the other modules here act on them. */
export interface Platform {
  /** What a process holds while it works on a job; the system frees both when the process ends. */
  readonly lock: 'socket' | 'exclusive file';
  /** Whether a folder can be opened and synced; where not, the system keeps names by itself. */
  readonly syncsFolders: boolean;
  /** What a rename fails with while another program has the file open, for a moment as a rule. */
  readonly busyErrors: readonly string[];
  /** Whether files have an owner and a mode. */
  readonly hasFileModes: boolean;
  /** Whether the parent of a process that a signal ended learns the signal. */
  readonly diesBySignals: boolean;
  readonly quoting: 'posix' | 'powershell';
  /** What runs a command line; on Windows its words are to be passed on as they are. */
  shell(line: string): { file: string; words: string[] };
}

const posix: Platform = {
  lock: 'socket',
  syncsFolders: true,
  busyErrors: [],
  hasFileModes: true,
  diesBySignals: true,
  quoting: 'posix',
  shell: (line) => ({ file: '/bin/sh', words: ['-c', line] }),
};

const windows: Platform = {
  lock: 'exclusive file',
  syncsFolders: false,
  busyErrors: ['EPERM', 'EACCES', 'EBUSY'],
  hasFileModes: false,
  diesBySignals: false,
  quoting: 'powershell',
  shell: (line) => ({ file: 'cmd', words: ['/d', '/s', '/c', `"${line}"`] }),
};

/** The facts about a system; Linux, macOS and the other systems of Node.js are alike in all of them. */
export const platformOf = (name: NodeJS.Platform): Platform => (name === 'win32' ? windows : posix);
