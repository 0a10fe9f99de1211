import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { makeFolder } from '../../../platform/make-folder.js';
import { platformOf } from '../../../platform/platform.js';
import { renameFileSync } from '../../../platform/rename.js';
import { isNotOffered } from '../../../platform/sync-folder.js';

/** The file operations of a plan; tests make each of them fail. */
export interface PlanDisk {
  makeFolder(path: string): void;
  open(path: string, flags: 'r' | 'wx+'): number;
  write(file: number, bytes: Uint8Array): number;
  read(file: number, into: Uint8Array, position: number): number;
  sync(file: number): void;
  close(file: number): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
}

export const nodePlanDisk: PlanDisk = {
  makeFolder,
  open: (path, flags) => openSync(path, flags, 0o600),
  write: (file, bytes) => writeSync(file, bytes),
  read: (file, into, position) => readSync(file, into, 0, into.length, position),
  sync: (file) => fsyncSync(file),
  close: (file) => closeSync(file),
  rename: (from, to) => renameFileSync(from, to),
  remove: (path) => rmSync(path, { force: true }),
};

/** Makes the names in a folder durable. */
export function syncPlanFolder(disk: PlanDisk, folder: string, platform = process.platform): void {
  if (!platformOf(platform).syncsFolders) return;
  const file = disk.open(folder, 'r');
  try {
    disk.sync(file);
  } catch (error) {
    if (!isNotOffered(error)) throw error;
  } finally {
    disk.close(file);
  }
}
