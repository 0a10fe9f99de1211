import type { AppendFile, Disk } from '../../../src/cli/bulk/job/journal/append-file.js';

/** A disk that knows what is synced, can fail at a chosen operation, and loses the rest in a power cut. */
export class MemoryDisk implements Disk {
  readonly files = new Map<string, { bytes: Buffer; synced: number }>();
  /** Called before every operation; throws or never returns to inject a fault. */
  before: (operation: 'append' | 'sync' | 'truncate') => Promise<void> | void = () => {};
  /** Bytes an append still writes when `before` throws for it. */
  torn = 0;

  openAppend(path: string): Promise<AppendFile> {
    const file = this.files.get(path) ?? { bytes: Buffer.alloc(0), synced: 0 };
    this.files.set(path, file);
    const disk = this;
    return Promise.resolve({
      async *read() {
        // Small pieces, so that lines cross them.
        for (let at = 0; at < file.bytes.length; at += 57) yield file.bytes.subarray(at, at + 57);
      },
      async append(bytes) {
        try {
          await disk.before('append');
        } catch (error) {
          file.bytes = Buffer.concat([file.bytes, bytes.subarray(0, disk.torn)]);
          throw error;
        }
        file.bytes = Buffer.concat([file.bytes, bytes]);
      },
      async truncate(size) {
        await disk.before('truncate');
        file.bytes = file.bytes.subarray(0, size);
        file.synced = Math.min(file.synced, size);
      },
      async sync() {
        await disk.before('sync');
        file.synced = file.bytes.length;
      },
      close: () => Promise.resolve(),
    });
  }

  /** What is not synced survives in part, and in part as zeros. `random` gives 0 up to 1. */
  cutPower(random: () => number): void {
    for (const file of this.files.values()) {
      const unsynced = file.bytes.length - file.synced;
      const kept = Math.floor(random() * (unsynced + 1));
      const zeros = random() < 0.3 ? Math.floor(random() * (unsynced - kept + 1)) : 0;
      file.bytes = Buffer.concat([file.bytes.subarray(0, file.synced + kept), Buffer.alloc(zeros)]);
      file.synced = file.bytes.length;
    }
  }
}
