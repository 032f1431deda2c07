#!/usr/bin/env node
// The `hedgerow` command: hands its arguments to the program and ends with its exit code.

import { runProgram } from './cli/program.ts';
import { VERSION } from './version.ts';

process.exitCode = await runProgram(process.argv.slice(2), VERSION);
