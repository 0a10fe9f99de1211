import type { Hold } from '../../../service/index.js';

const causes: Readonly<Record<Hold['reason'], string>> = {
  restored: 'its data was restored',
  failed_over: 'its database has failed over or was recovered',
};

export const holdWarning = (reason: Hold['reason']): string =>
  `The service is held, since ${causes[reason]}: nothing is sent. See: \`urtuu service release --help\``;
