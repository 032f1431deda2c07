// Checks a segment file in many steps.

import { type Instance, STATUS } from './instance.ts';

/** Status of a check that must be continued. */
const MORE = 1;

export interface CheckOutcome {
  readonly status: number;
  /** Where the file is corrupt; 0 for any other status. */
  readonly offset: number;
  readonly steps: number;
}

/** Runs the check in steps of `work()` units each. */
export function checkInSteps(
  core: Instance,
  file: number,
  bytes: number,
  deep: number,
  work: () => number,
): CheckOutcome {
  const stateBytes = core.x.HG_CHECK_STATE_BYTES.value;
  const state = core.alloc(stateBytes);
  core.core.memory.borrow(state, stateBytes).fill(0);
  let steps = 0;
  let status: number;
  do {
    status = core.x.hg_segment_check_step(file, bytes, deep, state, work());
    steps++;
  } while (status === MORE);
  const offset = status === STATUS.corrupt ? core.offset : 0;
  if (core.bytes(state, stateBytes).some((byte) => byte !== 0)) throw new Error('a check that ended leaves its state');
  core.x.hg_memory_free(state);
  return { status, offset, steps };
}

/** Runs the check in one call. */
export function checkAtOnce(core: Instance, file: number, bytes: number, deep: number): CheckOutcome {
  const status = core.x.hg_segment_check(file, bytes, deep);
  return { status, offset: status === STATUS.corrupt ? core.offset : 0, steps: 1 };
}
