import { join } from 'node:path';
import { BufferedFile } from './buffered-file.js';
import { checksummedText } from './checksummed-text.js';
import { type PlanDisk, syncPlanFolder } from './plan-disk.js';
import {
  type DataFile,
  dataFiles,
  type Origin,
  originsFile,
  type PlanRecord,
  planFile,
  planKind,
  writtenMeta,
} from './plan-format.js';

/** The files of a plan that is being written. */
export class PlanFolder {
  readonly #disk: PlanDisk;
  readonly #folder: string;
  readonly #data = new Map<DataFile | typeof originsFile, BufferedFile>();
  readonly #temporary: BufferedFile[] = [];
  #record: BufferedFile | undefined;

  constructor(disk: PlanDisk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  dataFile(name: DataFile | typeof originsFile): BufferedFile {
    const file = new BufferedFile(this.#disk, join(this.#folder, name), { checksummed: true });
    this.#data.set(name, file);
    return file;
  }

  writeOrigins(origins: readonly Origin[]): void {
    if (origins.length === 0) return;
    const file = this.dataFile(originsFile);
    for (const origin of origins) file.appendText(`${JSON.stringify(origin)}\n`);
  }

  temporaryFile(name: string): BufferedFile {
    const file = new BufferedFile(this.#disk, join(this.#folder, `${name}.tmp`), { checksummed: false });
    this.#temporary.push(file);
    return file;
  }

  /** Flushes all files for readers. */
  flush(): void {
    for (const file of this.#data.values()) file.flush();
  }

  /** Placeholders for checksums, until the files are finished. */
  unknownChecksums(): PlanRecord['files'] {
    return byName(() => ({ bytes: 0, sha256: '' }));
  }

  /** Makes the data files durable. */
  finishData(): PlanRecord['files'] {
    const written = byName((name) => {
      const checksum = this.#data.get(name)?.finish();
      if (checksum === undefined) throw new Error(`${name} was not written`);
      return checksum;
    });
    const origins = this.#data.get(originsFile)?.finish();
    return origins === undefined ? written : { ...written, [originsFile]: origins };
  }

  /** Writes the record, removes temporary files, and makes the folder durable. */
  finish(record: PlanRecord): void {
    const file = new BufferedFile(this.#disk, join(this.#folder, planFile), { checksummed: false });
    this.#record = file;
    const text = `${JSON.stringify({ ...record, meta: writtenMeta(record.meta) }, null, 2)}\n`;
    file.appendText(checksummedText(planKind, record.meta.version, text));
    file.finish();
    this.#remove(this.#temporary);
    syncPlanFolder(this.#disk, this.#folder);
  }

  /** Removes all files but the rejects file. */
  discard(): void {
    this.#remove([...(this.#record ? [this.#record] : []), ...this.#data.values(), ...this.#temporary]);
  }

  #remove(files: BufferedFile[]): void {
    for (const file of files) {
      file.close();
      this.#disk.remove(file.path);
    }
  }
}

function byName<T>(make: (name: DataFile) => T): Record<DataFile, T> {
  return Object.fromEntries(dataFiles.map((name) => [name, make(name)])) as Record<DataFile, T>;
}
