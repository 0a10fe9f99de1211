#!/usr/bin/env node
import main from '../dist/cli/main.cjs';

main.start(process);
