// Tests the check of a segment file in steps: the work of a step is bounded, the result is that of
// the check in one call, and the check keeps no memory.

import { describe, expect, it } from 'vitest';
import { checkAtOnce, checkInSteps } from './support/check-steps.ts';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { COLUMNS, edgeOf } from './support/model.ts';
import { buildSegment } from './support/segments.ts';

const ROWS = 3000;
const edges = Array.from({ length: ROWS }, (_, row) =>
  edgeOf(row * 3, row * row, [row, row + 1, 9999], { 0: row / 8, 6: `text ${row % 1000}` }),
);
const BYTES_A_UNIT = 16;

describe.each(BUILDS)('the check in steps, %s build', (build) => {
  it('does no more than its work in a step, whatever the work is', () => {
    const core = new Instance(build);
    const { file, bytes } = buildSegment(core, edges, COLUMNS, 10);
    const incidences = core.x.hg_segment_field(file, 3);
    const nodes = core.x.hg_segment_field(file, 4);
    const sums = (bytes - 2000) / BYTES_A_UNIT;
    // The deep check goes through the rows, blocks, codes and texts, and three times through nodes.
    const units = sums + 3 * ROWS + incidences + 2 * nodes;
    for (const work of [1, 7, 100, 1000, 10_000]) {
      expect(checkInSteps(core, file, bytes, 0, () => work).steps).toBeGreaterThan(sums / work / 1.1);
      const { status, steps } = checkInSteps(core, file, bytes, 1, () => work);
      expect(status).toBe(0);
      // A row, a block of 64 rows or a text is not divided.
      if (work >= 100) expect(steps).toBeGreaterThan(units / (work + 64));
    }
    expect(checkInSteps(core, file, bytes, 1, () => 2 ** 32 - 1)).toEqual({ status: 0, offset: 0, steps: 1 });
  });

  it('refuses a damaged file as the check in one call does', () => {
    const core = new Instance(build);
    const { file, bytes } = buildSegment(core, edges, COLUMNS, 10);
    for (let at = 0; at < bytes; at += 997) {
      core.core.memory.bytes[file + at]! ^= 4;
      const { status, offset } = checkAtOnce(core, file, bytes, 1);
      expect(checkInSteps(core, file, bytes, 1, () => 100)).toMatchObject({ status, offset });
      core.core.memory.bytes[file + at]! ^= 4;
    }
    expect(checkInSteps(core, file, bytes - 8, 1, () => 100).status).toBe(STATUS.corrupt);
  });

  it('keeps one region between two steps, whose address is in the state, and frees it at its end', () => {
    const core = new Instance(build);
    const { file, bytes } = buildSegment(core, edges, COLUMNS, 10);
    const state = core.put(new Uint8Array(core.x.HG_CHECK_STATE_BYTES.value));
    const used = core.x.hg_memory_used();
    const heads = () => core.words(state, 3)[2]!;
    const step = () => core.x.hg_segment_check_step(file, bytes, 1, state, 1000);
    let most = used;
    for (let status = 1; status === 1; most = Math.max(most, core.x.hg_memory_used())) status = step();
    expect(most).toBeGreaterThan(used);
    expect(core.x.hg_memory_used()).toBe(used);
    while (heads() === 0) expect(step()).toBe(1);
    core.x.hg_memory_free(heads());
    expect(core.x.hg_memory_used()).toBe(used);
  });
});
