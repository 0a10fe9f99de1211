#!/usr/bin/env node
'use strict';
require('../dist/cli/start.cjs').start(process, require);
