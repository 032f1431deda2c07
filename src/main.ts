#!/usr/bin/env node
// The `hedgerow` command: passes its arguments to the program and exits with its exit code.

import { runProgram } from './cli/program.ts';
import { VERSION } from './version.ts';

process.exitCode = await runProgram(process.argv.slice(2), VERSION);
