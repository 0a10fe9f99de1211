#!/usr/bin/env node
'use strict';
// An old Node.js must be able to read this file, to print the error.
const oldest = 20;
if (Number.parseInt(process.versions.node, 10) < oldest) {
  const message = `urtuu: Node.js ${oldest} or newer is needed; this is ${process.version}`;
  process.stderr.write(`${message}\n  Install a newer one: https://nodejs.org\n`);
  process.exitCode = 13;
} else {
  require('../dist/cli/start.cjs').start(process, require);
}
