// Coverage-guided fuzzing. Feeds targets with mutated inputs and checks each result, which must be
// a value or a typed error, within a second. Inputs that reach new code join the corpus of the run.
//
// Reading the coverage costs as much as hundreds of inputs, so it is read once per batch of inputs.
// When a batch has reached new code, up to MOST_INPUTS_AGAIN of its inputs are run again, with one
// coverage read each. Those that reach new code by themselves are kept. Batches grow while nothing
// new is found.

import { HedgerowError } from '../../src/errors.ts';
import { type Random, randomFrom } from '../core/support/random.ts';
import { Coverage } from './support/coverage.ts';

export interface Target<T> {
  name: string;
  /** Approximate share of the inputs for this target, out of 1,000. */
  share: number;
  seeds: readonly T[];
  /** Whether the target reaches code that V8 can count, so that coverage can guide the corpus. */
  guided: boolean;
  mutate(random: Random, source: T, corpus: readonly T[]): T;
  /**
   * Returns true if the input was accepted. Throws the error that the code threw, or a `Wrong`
   * error if the result is wrong.
   */
  run(input: T, random: Random): boolean | Promise<boolean>;
  /** Returns the input as text for the report. */
  show(input: T): string;
  end?(): Promise<void>;
}

export interface FuzzFigures {
  name: string;
  inputs: number;
  accepted: number;
  refused: number;
  /** Number of seeds plus number of inputs that reached new code. */
  corpus: number;
  slowestMs: number;
  failures: string[];
}

/** Time limit for an input. */
const INPUT_MS = 1000;
const FIRST_LOOK = 50;
const MOST_INPUTS_A_LOOK = 20_000;
/** Number of inputs from a batch that are run again, evenly spread over the batch. */
const MOST_INPUTS_AGAIN = 40;
/**
 * A coverage read costs about 10 ms. So, except at the start, there is at most one read per this
 * many inputs.
 */
const INPUTS_A_LOOK = 100;
const FIRST_LOOKS = 40;
const MOST_CORPUS = 2000;
const MOST_FAILURES = 10;
const SEED_STEP = 1_000_003;

/** A wrong result, as detected by a target. */
export class Wrong extends Error {}

export async function fuzzTarget<T>(
  target: Target<T>,
  inputs: number,
  seed: number,
  beat: (inputs: number) => void,
): Promise<FuzzFigures> {
  const { name } = target;
  const figures = { name, inputs: 0, accepted: 0, refused: 0, corpus: 0, slowestMs: 0, failures: [] as string[] };
  const corpus = [...target.seeds];
  const coverage = target.guided ? new Coverage() : undefined;
  let look = FIRST_LOOK;
  let fresh: T[] = [];
  let looks = FIRST_LOOKS + inputs / INPUTS_A_LOOK;
  const takeNew = async () => {
    looks--;
    if (coverage === undefined || looks < 0) look = Number.POSITIVE_INFINITY;
    else if (coverage.take('many') === 0) look = Math.min(MOST_INPUTS_A_LOOK, look * 2);
    else {
      look = Math.max(FIRST_LOOK, look >> 1);
      looks -= await keepNew(target, fresh, corpus, coverage);
    }
    fresh = [];
  };
  for (const input of target.seeds) await runOne(target, input, randomFrom(seed), figures, 'a seed');
  coverage?.take('many');
  for (let number = 0; number < inputs && figures.failures.length < MOST_FAILURES; number++) {
    const random = randomFrom(seed * SEED_STEP + number);
    const input = target.mutate(random, corpus[random.below(corpus.length)]!, corpus);
    beat(number);
    await runOne(target, input, random, figures, `seed ${seed}, input ${number}`);
    if (target.guided && look < Number.POSITIVE_INFINITY) fresh.push(input);
    if (fresh.length >= look) await takeNew();
  }
  coverage?.end();
  await target.end?.();
  return { ...figures, corpus: corpus.length };
}

/**
 * Runs some of the inputs again, with one coverage read each. Inputs that reach code no earlier
 * input has reached join the corpus. Returns the number of reads.
 */
async function keepNew<T>(target: Target<T>, inputs: readonly T[], corpus: T[], coverage: Coverage): Promise<number> {
  const step = Math.max(1, Math.ceil(inputs.length / MOST_INPUTS_AGAIN));
  const again = inputs.filter((_, place) => place % step === 0);
  for (const input of again) {
    try {
      await target.run(input, randomFrom(1));
    } catch {
      // The input was judged when it first ran.
    }
    if (coverage.take('one') > 0 && corpus.length < MOST_CORPUS) corpus.push(input);
  }
  return again.length;
}

async function runOne<T>(
  target: Target<T>,
  input: T,
  random: Random,
  figures: FuzzFigures,
  which: string,
): Promise<void> {
  figures.inputs++;
  let ms = 0;
  // On a busy machine any process may pause for a second. So only an input that is slow twice
  // counts as slow.
  for (let attempt = 0; attempt < 2; attempt++) {
    const begunMs = performance.now();
    let fault: string | undefined;
    try {
      const result = target.run(input, random);
      const accepted = typeof result === 'boolean' ? result : await result;
      if (attempt === 0) accepted ? figures.accepted++ : figures.refused++;
    } catch (error) {
      fault = faultOf(error);
      if (attempt === 0) figures.refused++;
    }
    if (fault !== undefined) {
      figures.failures.push(`${target.name}, ${which}: ${fault}; input ${target.show(input).slice(0, 2000)}`);
      return;
    }
    ms = performance.now() - begunMs;
    if (ms <= INPUT_MS) break;
  }
  figures.slowestMs = Math.max(figures.slowestMs, Math.round(ms));
  if (ms > INPUT_MS)
    figures.failures.push(
      `${target.name}, ${which}: took ${Math.round(ms)} ms; input ${target.show(input).slice(0, 2000)}`,
    );
}

/** Returns undefined if a caller may get this error, and otherwise a description of the fault. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof HedgerowError) {
    if (error.code === 'internal') return `internal: ${error.message}`;
    return /\n\s+at /.test(error.message) ? `a stack in its message: ${error.message}` : undefined;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
