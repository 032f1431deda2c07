// Feeds arbitrary and damaged bytes, some with correct checksums, to the core's checks. Everything
// that passes a check is given to every read function. The result must be a value or a status,
// never a trap, a hang or a write beyond a region. HEDGEROW_FUZZ sets the number of cases,
// HEDGEROW_FUZZ_SEED selects other cases.

import { describe, expect, it } from 'vitest';
import { checkAtOnce, checkInSteps } from '../core/support/check-steps.ts';
import { COLUMNS, concat } from '../core/support/model.ts';
import { type Random, randomFrom } from '../core/support/random.ts';
import { recordsOf } from '../core/support/segments.ts';
import { EdgeOfMemory } from './support/edge-of-memory.ts';
import { mutate, randomBytes } from './support/mutate.ts';
import { readRecords, readSegment } from './support/read-all.ts';
import { repair, seedSegments, seedTables } from './support/seeds.ts';

const CASES = Number(process.env.HEDGEROW_FUZZ ?? 6000);
const SEED = Number(process.env.HEDGEROW_FUZZ_SEED ?? 1);
/** Time limit for a single case. */
const CASE_MS = 3000;
const TIMEOUT_MS = 60_000 + CASES * 20;

/** Runs cases. A failure names its case, so that the case can be run alone. */
function run(name: string, cases: number, one: (random: Random) => boolean): number {
  let passed = 0;
  for (let number = 0; number < cases; number++) {
    const started = performance.now();
    try {
      if (one(randomFrom(SEED * 1_000_003 + number))) passed++;
    } catch (cause) {
      throw new Error(`${name}: seed ${SEED}, case ${number}: ${cause instanceof Error ? cause.message : cause}`, {
        cause,
      });
    }
    const ms = performance.now() - started;
    if (ms > CASE_MS) throw new Error(`${name}: seed ${SEED}, case ${number} took ${Math.round(ms)} ms`);
  }
  if (process.env.HEDGEROW_FUZZ) console.log(`${name}: ${passed} of ${cases} cases passed the check and were read`);
  return passed;
}

/** Returns the status of the check, which must be the same if the check is done in steps. */
function check(core: EdgeOfMemory, random: Random, at: number, bytes: number, deep: number): number {
  const { status, offset } = checkAtOnce(core, at, bytes, deep);
  const most = 1 + random.below(300);
  const used = core.x.hg_memory_used();
  const inSteps = checkInSteps(core, at, bytes, deep, () => 1 + random.below(most));
  if (inSteps.status !== status || inSteps.offset !== offset)
    throw new Error(`${status} at ${offset}, but in steps ${inSteps.status} at ${inSteps.offset}`);
  if (core.x.hg_memory_used() !== used) throw new Error('a check in steps keeps memory');
  return status;
}

describe('the core, debug build', () => {
  const core = new EdgeOfMemory();

  it('returns a status for arbitrary bytes', { timeout: TIMEOUT_MS }, () => {
    const magic = new TextEncoder().encode('HEDGESEG\u0001\0\0\0');
    const passed = run('arbitrary', CASES, (random) => {
      const bytes = randomBytes(random, random.below(random.below(4) === 0 ? 600 : 60));
      if (random.below(2) === 0) bytes.set(magic.subarray(0, bytes.length));
      const at = core.place(bytes);
      if (random.below(2) === 0) repair(core, at, bytes.length);
      const status = check(core, random, at, bytes.length, random.below(2));
      const header = core.x.hg_segment_check_header(at, random.below(bytes.length + 1), bytes.length);
      const records = core.x.hg_records_check(at, bytes.length, random.below(4));
      return status === 0 || header === 0 || records === 0;
    });
    expect(passed).toBeLessThan(CASES / 10); // only empty input can pass, as zero records
  });

  it('refuses or reads damaged records', { timeout: TIMEOUT_MS }, () => {
    const seeds = seedTables().map((edges) => recordsOf(edges, COLUMNS));
    const passed = run('records', CASES, (random) => {
      const records = seeds[random.below(seeds.length)]!.slice(0, 1 + random.below(12));
      const source = concat(records);
      const bytes = random.below(40) === 0 ? source : mutate(random, source, 80);
      const at = core.place(bytes);
      const ok = core.x.hg_records_check(at, bytes.length, records.length) === 0;
      if (ok) readRecords(core, random, at, bytes.length, records.length);
      return ok;
    });
    expect(passed).toBeGreaterThan(CASES / 50);
  });

  it('refuses or reads damaged segments with correct checksums', { timeout: TIMEOUT_MS }, () => {
    const seeds = seedSegments();
    const passed = run('segments', CASES, (random) => {
      const source = seeds[random.below(seeds.length)]!;
      const bytes = random.below(100) === 0 ? Uint8Array.from(source) : mutate(random, source, 128 + 24 * 20);
      const at = core.place(bytes);
      repair(core, at, bytes.length);
      check(core, random, at, bytes.length, 0);
      const ok = check(core, random, at, bytes.length, 1) === 0;
      if (ok) readSegment(core, random, at);
      return ok;
    });
    expect(passed).toBeGreaterThan(CASES / 200);
  });
});
