/** Pages whose blocks another test runs. Here their shell and JSON are only parsed. */
export const testedElsewhere: Record<string, string> = {
  'docs/client.md': 'test/docs/client.test.ts',
  'docs/commands.md': 'test/reference.test.ts',
  'docs/events.md': 'test/docs/events.test.ts',
};

/** Blocks that no test runs, by page and first line, and why. They are still parsed as what they are. */
export const notRun: Record<string, string> = {
  'README.md: npm install --global urtuu': 'installs from the registry; test/package installs what is packed',
  'README.md: sh install.sh': 'needs the files of a release; test/systems/release.js installs them',
  'docs/install.md: sha256sum --check --ignore-missing SHA256SUMS':
    'needs the files of a release; test/systems/release.js checks them',
  'docs/install.md: sh install.sh --from https://mirror.example.mn/urtuu':
    'needs a mirror; test/systems/release.js installs from one',
  'docs/install.md: sudo useradd --system --home-dir /var/lib/urtuu --shell /usr/sbin/nologin urtuu':
    'needs systemd; test/systems/release.js installs the package',
  'README.md: urtuu login --base-url https://api.example.com/v1':
    'prompts for the key; test/terminal answers the prompt on a real terminal',
  'docs/running.md: urtuu serve':
    'listens on a fixed port until it is stopped; a block of docs/sandbox.md starts it on a free one',
  'docs/running.md: export URTUU_DATABASE=postgres://urtuu@db.example.mn/urtuu URTUU_SECRET_FILE=/etc/urtuu/urtuu.secret':
    'needs a PostgreSQL of its own; test/docs/several-machines.test.ts types it on two instances',
  "docs/running.md: export URTUU_DATABASE='postgres://urtuu@db.example.mn:5432/urtuu?sslmode=verify-full&sslrootcert=/etc/urtuu/database.pem'":
    'needs a PostgreSQL with a certificate; test/service/storage/postgres/tls.test.ts connects to such servers',
  'docs/running.md: install -D -o urtuu -m 600 urtuu.secret /etc/urtuu/urtuu.secret':
    'needs the user of the service, and root',
  'docs/running.md: head -c 32 /dev/urandom > deploy/urtuu.secret':
    'needs a Docker daemon; test/docs/several-machines.test.ts runs the instances of the file',
  'docs/gateways.md: urtuu service check --config service.json':
    'connects and sends over a gateway; test/docs/gateways.test.ts follows the page with one that does as it says',
  'docs/carriers.md: urtuu service check --config service.json':
    'connects to carriers; test/e2e/serve-config.test.ts and serve-email.test.ts serve with such a file',
  "docs/carriers.md: urtuu service try gateway 99112233 'Hi' --config service.json":
    'sends over a gateway; test/cli/commands/service/try.test.ts sends with such a file',
  'docs/email.md: urtuu service inbox --follow -o ndjson':
    'needs the data of a service, and never ends; test/cli/incoming.test.ts follows an inbox',
  'docs/email.md: urtuu service settings set own_domain shop.mn':
    'needs the data of a service; test/service/inbox signs mail and names the records',
  'docs/suppressions.md: urtuu service settings set stop_words STOP ЗОГС ЗОГСОО БОЛЬ':
    'needs the data of a service; test/cli/settings.test.ts sets such words',
  'docs/suppressions.md: urtuu service settings set list_unsubscribe hosted':
    'needs the data of a service with a public URL; test/service/dashboard/unsubscribe.test.ts sets it',
  'docs/suppressions.md: urtuu service suppressions add 99112233 bold@example.com':
    'needs the data of a service; test/cli/incoming.test.ts runs the commands',
  'docs/operate.md: urtuu service prune --recipient 99112233 --data /var/lib/urtuu':
    'asks, and needs a message to that person; test/cli/commands/service-prune.test.ts erases one',
  'docs/running.md: docker build -f deploy/Dockerfile -t urtuu .':
    'needs a Docker daemon; test/docs/image.test.ts runs the steps of the Dockerfile',
  'docs/running.md: # in the pod: terminationGracePeriodSeconds: 60':
    'is a part of a container that serves until it is stopped; test/e2e/serve-signals.test.ts drains one',
  'docs/running.md: createdb urtuu':
    'needs a PostgreSQL of its own; test/docs/move.test.ts types it, and the block after it',
  'docs/operate.md: urtuu service release --finish-as sent     # after a restore, or an asynchronous failover':
    'needs a database that was restored; test/cli/commands/service-hold.test.ts releases one',
};
