import type { Group, Leaf } from '../../command.js';

export const serviceCommands: readonly (Leaf | Group)[] = [
  ['check', 'Check the store and the carriers', async () => (await import('./check.js')).serviceCheck],
  ['try', 'Send one SMS over a gateway', async () => (await import('./try.js')).serviceTry],
  ['status', 'Show the queue and the connections', async () => (await import('./status.js')).serviceStatus],
  [
    'backup',
    'Back up the data of a service, even while it runs',
    async () => (await import('./backup.js')).serviceBackup,
  ],
  ['restore', 'Restore a backup', async () => (await import('./restore.js')).serviceRestore],
  ['move', 'Move the data of a folder to a database', async () => (await import('./move.js')).serviceMove],
  ['verify', 'Verify that the data adds up', async () => (await import('./verify.js')).serviceVerify],
  [
    'prune',
    'Erase recipients and texts of old messages',
    async () => (await import('./prune.js')).servicePrune,
  ],
  [
    'release',
    'Release a service that is held after a restore',
    async () => (await import('./release.js')).serviceRelease,
  ],
  [
    'settings',
    'Show and change settings: caps, prices, sender',
    [
      ['get', 'Show settings', async () => (await import('./settings.js')).serviceSettingsGet],
      ['set', 'Change a setting', async () => (await import('./settings.js')).serviceSettingsSet],
    ],
  ],
  [
    'projects',
    'Manage projects: each has keys, a balance and settings',
    [
      ['list', 'List the projects', async () => (await import('./projects/list.js')).serviceProjectsList],
      [
        'create',
        'Create a project',
        async () => (await import('./projects/create.js')).serviceProjectsCreate,
      ],
      [
        'rename',
        'Rename a project',
        async () => (await import('./projects/rename.js')).serviceProjectsRename,
      ],
    ],
  ],
  [
    'lanes',
    'Pause and resume lanes: routes of SMS, email',
    [
      ['list', 'List the lanes', async () => (await import('./lanes/list.js')).serviceLanesList],
      ['pause', 'Pause a lane', async () => (await import('./lanes/pause.js')).serviceLanesPause],
      ['resume', 'Resume a lane', async () => (await import('./lanes/resume.js')).serviceLanesResume],
    ],
  ],
  [
    'batches',
    'Stop batches',
    [['stop', 'Stop a batch', async () => (await import('./batches/stop.js')).serviceBatchesStop]],
  ],
  ['credit', 'Add credits to a project', async () => (await import('./credit.js')).serviceCredit],
  ['ledger', 'List the changes of a balance', async () => (await import('./ledger.js')).serviceLedger],
  [
    'inbox',
    'List incoming messages: replies by mail, SMS',
    async () => (await import('./inbox.js')).serviceInbox,
  ],
  [
    'incoming',
    'Receive a bounce or a reply from a mail server',
    async () => (await import('./incoming.js')).serviceIncoming,
  ],
  [
    'suppressions',
    'Manage the do-not-send list',
    [
      [
        'add',
        'Add recipients to the list',
        async () => (await import('./suppressions/add.js')).serviceSuppressionsAdd,
      ],
      [
        'list',
        'List suppressed recipients',
        async () => (await import('./suppressions/list.js')).serviceSuppressionsList,
      ],
      [
        'remove',
        'Send to a recipient again',
        async () => (await import('./suppressions/remove.js')).serviceSuppressionsRemove,
      ],
    ],
  ],
  ['dns', 'List the DNS records of an own domain', async () => (await import('./dns.js')).serviceDns],
  [
    'keys',
    'Manage API keys, as urtuu keys does',
    [
      ['create', 'Create a key', async () => (await import('./keys.js')).serviceKeysCreate],
      ['list', 'List the keys', async () => (await import('./keys.js')).serviceKeysList],
      ['revoke', 'Revoke a key', async () => (await import('./keys.js')).serviceKeysRevoke],
    ],
  ],
];
