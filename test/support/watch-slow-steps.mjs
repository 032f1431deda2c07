// Loaded into every process of a test run (`--import`): appends each slow step of its schedulers to
// the file named by HEDGEROW_TEST_SLOW_STEPS, as a line `KIND MILLISECONDS`.
//
// Each step is written as it ends, so that those of a process that is killed are counted too.

import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';

const file = process.env.HEDGEROW_TEST_SLOW_STEPS;
// The name of the channel is SLOW_STEPS in src/schedule/scheduler.ts. This module cannot import
// TypeScript, because it is also loaded into the built program.
if (file !== undefined)
  subscribe('hedgerow:slow-step', ({ kind, tookMs }) => {
    try {
      appendFileSync(file, `${kind} ${tookMs}\n`);
    } catch {
      // The run is over and its file removed, or the disk of the test is full.
    }
  });
