#!/usr/bin/env node
'use strict';
// An old Node.js, too, has to be able to read this file, so that it can be told.
const oldest = 20;
if (Number.parseInt(process.versions.node, 10) < oldest) {
  const told = `urtuu: Node.js ${oldest} or newer is needed; this is ${process.version}`;
  process.stderr.write(`${told}\n  Install a newer one: https://nodejs.org\n`);
  process.exitCode = 13;
} else {
  require('../dist/cli/start.cjs').start(process, require);
}
