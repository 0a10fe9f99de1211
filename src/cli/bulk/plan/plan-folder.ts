import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { BlockFile } from './buffered-file.js';
import { type Disk, syncFolder } from './plan-disk.js';
import {
  type PlanRecord,
  planFile,
  planMark,
  type SealedFile,
  sealedFiles,
  writtenMeta,
} from './plan-format.js';
import type { RequestFiles } from './write-requests.js';

/** The files of a plan while it is being written. */
export class PlanFolder {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #sealed = new Map<SealedFile, BlockFile>();
  readonly #scratch: BlockFile[] = [];
  #record: BlockFile | undefined;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  sealed(name: SealedFile): BlockFile {
    const file = new BlockFile(this.#disk, join(this.#folder, name), { sealed: true });
    this.#sealed.set(name, file);
    return file;
  }

  scratch(name: string): BlockFile {
    const file = new BlockFile(this.#disk, join(this.#folder, `${name}.tmp`), { sealed: false });
    this.#scratch.push(file);
    return file;
  }

  requestFiles(): RequestFiles {
    return { bodies: this.sealed('bodies'), requests: this.sealed('chunks'), lines: this.sealed('lines') };
  }

  /** Lets what was written so far be read. */
  flush(): void {
    for (const file of this.#sealed.values()) file.flush();
  }

  unsealed(): PlanRecord['files'] {
    return recordOf(() => ({ bytes: 0, sha256: '' }));
  }

  seal(): PlanRecord['files'] {
    return recordOf((name) => {
      const seal = this.#sealed.get(name)?.seal();
      if (seal === undefined) throw new Error(`${name} was not written`);
      return seal;
    });
  }

  /** Writes the record, removes what only the planning needed, and makes the folder durable. */
  finish(record: PlanRecord): void {
    const file = new BlockFile(this.#disk, join(this.#folder, planFile), { sealed: false });
    this.#record = file;
    const text = `${JSON.stringify({ ...record, meta: writtenMeta(record.meta) }, null, 2)}\n`;
    const checksum = createHash('sha256').update(text).digest('hex');
    file.appendText(`${planMark} ${record.meta.version} ${checksum}\n${text}`);
    file.seal();
    this.#drop(this.#scratch);
    syncFolder(this.#disk, this.#folder);
  }

  /** Leaves nothing behind but the rejects file. */
  discard(): void {
    this.#drop([...(this.#record ? [this.#record] : []), ...this.#sealed.values(), ...this.#scratch]);
  }

  #drop(files: BlockFile[]): void {
    for (const file of files) {
      file.close();
      this.#disk.remove(file.path);
    }
  }
}

function recordOf<T>(make: (name: SealedFile) => T): Record<SealedFile, T> {
  return Object.fromEntries(sealedFiles.map((name) => [name, make(name)])) as Record<SealedFile, T>;
}
