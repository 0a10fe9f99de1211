import type { Entry } from '../../../../../src/cli/bulk/job/journal/entries.js';

export interface JournalSource {
  replay(onEntry: (entry: Entry) => void): Promise<void>;
}
