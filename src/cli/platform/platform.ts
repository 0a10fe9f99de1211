/** The differences between operating systems, as facts; the other modules of this folder act on them. */
export interface Platform {
  /** The lock of a job; the system releases either kind when the process ends. */
  readonly lock: 'socket' | 'exclusive file';
  /** Whether a folder can be opened and synced; otherwise the system itself makes names durable. */
  readonly syncsFolders: boolean;
  /** Error codes of a rename while another program has the file open, usually for a moment. */
  readonly busyErrors: readonly string[];
  /** Whether files have an owner and a mode. */
  readonly hasFileModes: boolean;
  /** Whether the parent of a process can see which signal ended it. */
  readonly diesBySignals: boolean;
  readonly quoting: 'posix' | 'powershell';
  /** The program that opens a file or an address in the desktop's browser; null without a desktop. */
  opener(
    name: NodeJS.Platform,
    env: Readonly<Record<string, string | undefined>>,
  ): { file: string; args: string[] } | null;
  /** Runs a command line; on Windows the arguments must be passed verbatim. */
  shell(line: string): { file: string; args: string[] };
}

const posix: Platform = {
  lock: 'socket',
  syncsFolders: true,
  busyErrors: [],
  hasFileModes: true,
  diesBySignals: true,
  quoting: 'posix',
  opener(name, env) {
    if (name === 'darwin') return { file: 'open', args: [] };
    return env.DISPLAY || env.WAYLAND_DISPLAY ? { file: 'xdg-open', args: [] } : null;
  },
  shell: (line) => ({ file: '/bin/sh', args: ['-c', line] }),
};

const windows: Platform = {
  lock: 'exclusive file',
  syncsFolders: false,
  busyErrors: ['EPERM', 'EACCES', 'EBUSY'],
  hasFileModes: false,
  diesBySignals: false,
  quoting: 'powershell',
  opener: () => ({ file: 'explorer', args: [] }),
  shell: (line) => ({ file: 'cmd', args: ['/d', '/s', '/c', `"${line}"`] }),
};

export const platformOf = (name: NodeJS.Platform): Platform => (name === 'win32' ? windows : posix);
