// Shares the event loop of a thread between all of its long work: together at most 5 ms per turn of
// the loop, and 2 ms while requests arrive. A request waits for several turns: for its socket to be
// read, and, if it writes, for the log.
//
// There are two kinds of long work. A task is a function that does one bounded step each time it is
// called; statements, streamed answers, rules and measures are tasks. Paused work is an
// asynchronous function of the engine that awaits `pause()` between its slices. Both wait in
// queues. One callback per turn of the event loop takes work from them until TURN_MS has passed.
// The rest waits for the next turn, after sockets and timers.
//
//   turn n:   step of A | slice of a commit | step of B | slice of the commit | ... (5 ms passed)
//   sockets, timers, short requests
//   turn n+1: step of C | ...
//
// Tasks run round-robin, one step each, so long tasks do not delay each other's progress by more
// than a step each. Every second step of a turn is for paused work, if there is any. A commit or a
// compaction may hold a lock that many tasks and requests wait for, so it must not become slower as
// their number grows.
//
// Paused work continues in microtasks. The scheduler continues in a process.nextTick callback,
// which Node runs after the last of these microtasks. So the time of the slice is counted, and the
// turn ends on time. A step is not interrupted, but no step begins that would end the turn later
// than TURN_MS by more than the turn is short of TURN_MS now, if it takes as long as the last one.
// So if all steps of the turn take equally long, it takes at most TURN_MS plus half a step.
// `figures` shows whether steps stay within their bound, and which kinds of work do not. Every step
// that takes more than LONG_STEP_MS is also published to the diagnostics channel SLOW_STEPS.

import { channel } from 'node:diagnostics_channel';
import type { Steps } from './steps.ts';

/**
 * Does one bounded piece of work (a few ms at most). Returns true to be called again. Returns false
 * when it is finished, or when it waits to be added again. Must not throw.
 */
export type Step = () => boolean;

/**
 * Runs `step` until it returns false, yielding to other work in between. Rejects with the error if
 * `step` throws.
 */
export type RunSteps = (step: Step) => Promise<void>;

/** Kinds of long work. */
export const WORK_KINDS = [
  'answer',
  'backup',
  'batch',
  'body',
  'changes',
  'check',
  'checkpoint',
  'commit',
  'compaction',
  'figures',
  'measure',
  'reasoning',
  'request',
  'statement',
  'texts',
  'virtual',
] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** Observes a unit of work: `look` is called before each step, `progress` after a step. */
export interface Watch {
  /** Throws to abandon the work. */
  look(): void;
  /** `done`: fraction from 0 to 1, never decreasing. */
  progress?(done: number): void;
}

export interface SchedulerFigures {
  /** Number of turns of the event loop in which long work ran. */
  readonly turns: number;
  readonly steps: number;
  /** Longest time in milliseconds that long work took in one turn so far. */
  readonly longestTurnMs: number;
  readonly longestStepMs: number;
  /** Number of steps that took more than LONG_STEP_MS. */
  readonly longSteps: number;
  readonly byKind: Readonly<Record<WorkKind, StepFigures>>;
}

export interface StepFigures {
  readonly longestStepMs: number;
  readonly longSteps: number;
}

/** Message of the diagnostics channel SLOW_STEPS. */
export interface SlowStep {
  readonly kind: WorkKind;
  readonly tookMs: number;
}

/** Time that all long work together may take before sockets and timers are served again. */
const TURN_MS = 5;
/** The same after a request, for SHORT_TURNS turns: about 0.1 s. */
const SHORT_TURN_MS = 2;
const SHORT_TURNS = 50;
/** A step longer than this delays other work noticeably. */
export const LONG_STEP_MS = 20;
/** Name of the diagnostics channel on which steps over LONG_STEP_MS are published as they end. */
export const SLOW_STEPS = 'hedgerow:slow-step';

const slowSteps = channel(SLOW_STEPS);

/** The figures of one kind of work. Waiting work refers to them, so that no step looks them up. */
interface StepCounts {
  readonly kind: WorkKind;
  longestStepMs: number;
  longSteps: number;
}

interface Task {
  readonly step: Step;
  readonly counts: StepCounts;
}

interface Paused {
  /** Resolves the promise of `pause`. */
  readonly resume: () => void;
  readonly counts: StepCounts;
}

/** Use one scheduler per thread: two of them would take up to twice TURN_MS per turn. */
export class Scheduler {
  readonly #now: () => number;
  readonly #tasks: Task[] = [];
  /** What begins the next turn. */
  #first: (() => void)[] = [];
  readonly #paused: Paused[] = [];
  readonly #counts = emptyCounts();
  /** Counts of the step that is running or was run last. */
  #running: StepCounts = this.#counts.answer;
  /** Whether the next step of the turn is for paused work. */
  #isPausedNext = true;
  #scheduled = false;
  /** Clock readings in milliseconds: start of this turn, and end of its last step. */
  #turnMs = 0;
  #stepMs = 0;
  #turns = 0;
  #steps = 0;
  #longestTurnMs = 0;
  /** Turns that will be short. */
  #shortTurns = 0;
  #mostMs = TURN_MS;

  /** `now`: monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get figures(): SchedulerFigures {
    const counts = Object.values(this.#counts);
    return {
      turns: this.#turns,
      steps: this.#steps,
      longestTurnMs: this.#longestTurnMs,
      longestStepMs: Math.max(...counts.map(({ longestStepMs }) => longestStepMs)),
      longSteps: counts.reduce((sum, { longSteps }) => sum + longSteps, 0),
      byKind: this.#counts,
    };
  }

  /** Tells that a request has arrived: where there is one, others may follow soon. */
  requestCame(): void {
    this.#shortTurns = SHORT_TURNS;
  }

  /**
   * Calls `step` as setImmediate would, but before the long work of that turn. It takes less than a
   * ms, and must not throw.
   */
  readonly before = (step: () => void): void => {
    this.#first.push(step);
    this.#schedule();
  };

  add(kind: WorkKind, step: Step): void {
    this.#tasks.push({ step, counts: this.#counts[kind] });
    this.#schedule();
  }

  /** Runs `step` until it returns false; an exception rejects the promise. */
  run(kind: WorkKind, step: Step): Promise<void> {
    return new Promise((resolve, reject) => {
      this.add(kind, () => {
        try {
          if (step()) return true;
          resolve();
        } catch (error) {
          reject(error);
        }
        return false;
      });
    });
  }

  /**
   * Runs all steps and resolves with the result. If the work or its watch throws, abandons the work
   * and rejects with that error.
   */
  drive<T>(kind: WorkKind, steps: Steps<T>, watch?: Watch): Promise<T> {
    return new Promise((resolve, reject) => {
      this.add(kind, () => {
        try {
          watch?.look();
          const step = steps.next();
          if (step.done === true) {
            resolve(step.value);
            return false;
          }
          if (step.value !== undefined) watch?.progress?.(step.value);
          return true;
        } catch (error) {
          reject(error);
          giveUp(steps);
          return false;
        }
      });
    });
  }

  /**
   * Resolves after other work has had a turn. The caller's work until its next `await` counts as a
   * step of this scheduler and may take a few ms at most.
   */
  pause(kind: WorkKind): Promise<void> {
    return new Promise((resume) => {
      this.#paused.push({ resume, counts: this.#counts[kind] });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#turns++;
    this.#mostMs = this.#shortTurns > 0 ? SHORT_TURN_MS : TURN_MS;
    if (this.#shortTurns > 0) this.#shortTurns--;
    const first = this.#first;
    this.#first = [];
    for (const step of first) step();
    this.#turnMs = this.#now();
    this.#stepMs = this.#turnMs;
    this.#work();
  };

  #work(): void {
    do {
      const paused = this.#nextPaused();
      if (paused !== undefined) {
        this.#running = paused.counts;
        paused.resume();
        queueMicrotask(this.#afterMicrotasks);
        return;
      }
      const task = this.#tasks.shift();
      if (task === undefined) break;
      this.#running = task.counts;
      if (task.step()) this.#tasks.push(task);
    } while (this.#count());
    this.#rest();
  }

  #nextPaused(): Paused | undefined {
    const isTheirs = this.#isPausedNext || this.#tasks.length === 0;
    this.#isPausedNext = !isTheirs;
    return isTheirs ? this.#paused.shift() : undefined;
  }

  /**
   * A `nextTick` callback requested in a microtask is run by Node after the last microtask,
   * including microtasks that the resumed work adds.
   */
  readonly #afterMicrotasks = (): void => process.nextTick(this.#resumed);

  readonly #resumed = (): void => {
    if (this.#count()) this.#work();
    else this.#rest();
  };

  /** Records the step that just ended. Returns whether the turn has time left. */
  #count(): boolean {
    const now = this.#now();
    const tookMs = now - this.#stepMs;
    this.#stepMs = now;
    this.#steps++;
    const counts = this.#running;
    if (tookMs > counts.longestStepMs) counts.longestStepMs = tookMs;
    if (tookMs > LONG_STEP_MS) {
      counts.longSteps++;
      if (slowSteps.hasSubscribers) slowSteps.publish({ kind: counts.kind, tookMs } satisfies SlowStep);
    }
    return now - this.#turnMs + tookMs / 2 <= this.#mostMs;
  }

  #rest(): void {
    this.#longestTurnMs = Math.max(this.#longestTurnMs, this.#stepMs - this.#turnMs);
    this.#scheduled = false;
    if (this.#tasks.length + this.#paused.length + this.#first.length > 0) this.#schedule();
  }
}

function emptyCounts(): Record<WorkKind, StepCounts> {
  const counts = WORK_KINDS.map((kind) => [kind, { kind, longestStepMs: 0, longSteps: 0 }] as const);
  return Object.fromEntries(counts) as Record<WorkKind, StepCounts>;
}

/**
 * Runs the work's `finally` blocks to free its scratch memory. Errors from those blocks are
 * dropped: the original reason is what the caller sees.
 */
function giveUp<T>(steps: Steps<T>): void {
  try {
    steps.return(undefined as T);
  } catch {}
}
