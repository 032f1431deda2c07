// Tests the scheduler, which shares turns of the event loop between tasks, and the locks.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, test } from 'vitest';
import { Mutex, Semaphore } from '../../src/schedule/locks.ts';
import { LONG_STEP_MS, Scheduler, SLOW_STEPS } from '../../src/schedule/scheduler.ts';
import type { Steps } from '../../src/schedule/steps.ts';

/** Creates a scheduler with a clock that advances only through `work`. */
function withClock() {
  let ms = 0;
  const work = (tookMs: number) => {
    ms += tookMs;
  };
  return { scheduler: new Scheduler(() => ms), work };
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe('a scheduler', () => {
  test('runs the steps of all tasks alternately, for a total of about 5 ms per turn of the event loop', async () => {
    const { scheduler, work } = withClock();
    const seen: string[] = [];
    for (const name of ['a', 'b']) {
      let left = 4;
      scheduler.add('statement', () => {
        seen.push(name);
        work(2);
        return --left > 0;
      });
    }
    await turn();
    expect(seen.join('')).toBe('aba');
    await turn();
    expect(seen.join('')).toBe('ababab');
    await turn();
    expect(seen.join('')).toBe('abababab');
    expect(scheduler.figures).toMatchObject({ turns: 3, steps: 8, longestStepMs: 2, longestTurnMs: 6, longSteps: 0 });
  });

  test('counts the work after a pause as a step, and runs it after every step of a task, however many tasks run', async () => {
    const { scheduler, work } = withClock();
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c'])
      scheduler.add('statement', () => {
        seen.push(name);
        work(1);
        return seen.length < 12;
      });
    const commit = (async () => {
      for (let slice = 0; slice < 4; slice++) {
        await scheduler.pause('commit');
        // The next two lines stand for the async functions between the engine's work and its pause.
        await null;
        await null;
        seen.push('*');
        work(1);
      }
    })();
    await commit;
    // Every second step is one of the commit (`*`) until the commit is over.
    expect(seen.slice(0, 5).join('')).toBe('*a*b*');
    expect(scheduler.figures.longestTurnMs).toBe(5);
  });

  test('makes the turns after a request short, and those after 50 turns without one long again', async () => {
    const { scheduler, work } = withClock();
    let steps = 0;
    let isOver = false;
    scheduler.add('measure', () => {
      steps++;
      work(1);
      return !isOver;
    });
    const stepsOfTurn = async () => {
      const before = steps;
      await turn();
      return steps - before;
    };
    expect(await stepsOfTurn()).toBe(5);
    scheduler.requestCame();
    for (let turns = 0; turns < 50; turns++) expect(await stepsOfTurn()).toBe(2);
    expect(await stepsOfTurn()).toBe(5);
    isOver = true;
    await turn();
  });

  test('begins a turn with what was asked for since the last one, also without long work', async () => {
    const { scheduler, work } = withClock();
    const seen: string[] = [];
    scheduler.before(() => {
      seen.push('a');
      scheduler.before(() => seen.push('b'));
    });
    expect(seen).toEqual([]);
    await turn();
    expect(seen).toEqual(['a']);
    scheduler.add('statement', () => {
      work(5);
      return seen.push('work') < 4;
    });
    await turn();
    expect(seen).toEqual(['a', 'b', 'work']);
    scheduler.before(() => seen.push('c'));
    await turn();
    expect(seen).toEqual(['a', 'b', 'work', 'c', 'work']);
  });

  test('begins no step that would probably exceed the time of a turn by more than half a step', async () => {
    const { scheduler, work } = withClock();
    let steps = 0;
    scheduler.add('statement', () => {
      work(4);
      return ++steps < 3;
    });
    await turn();
    // Two steps would take 8 ms, which is further from 5 ms than 4 ms.
    expect(steps).toBe(1);
    await turn();
    await turn();
    expect(scheduler.figures).toMatchObject({ turns: 3, steps: 3, longestTurnMs: 4 });
  });

  test('counts steps that are too long by the kind of their work, and publishes them', async () => {
    const { scheduler, work } = withClock();
    const published: unknown[] = [];
    const listen = (step: unknown) => published.push(step);
    subscribe(SLOW_STEPS, listen);
    try {
      const commit = scheduler.pause('commit').then(() => work(LONG_STEP_MS + 3));
      await scheduler.run('statement', () => {
        work(LONG_STEP_MS + 1);
        return false;
      });
      await scheduler.run('statement', () => {
        work(LONG_STEP_MS);
        return false;
      });
      await commit;
      await turn();
    } finally {
      unsubscribe(SLOW_STEPS, listen);
    }
    const { byKind, ...figures } = scheduler.figures;
    expect(figures).toMatchObject({ longestStepMs: LONG_STEP_MS + 3, longSteps: 2 });
    expect(byKind.commit).toMatchObject({ longestStepMs: LONG_STEP_MS + 3, longSteps: 1 });
    expect(byKind.statement).toMatchObject({ longestStepMs: LONG_STEP_MS + 1, longSteps: 1 });
    expect(byKind.measure).toMatchObject({ longestStepMs: 0, longSteps: 0 });
    expect(published).toEqual([
      { kind: 'commit', tookMs: LONG_STEP_MS + 3 },
      { kind: 'statement', tookMs: LONG_STEP_MS + 1 },
    ]);
  });

  test('abandons work whose `look` callback throws, and continues with the rest', async () => {
    const { scheduler } = withClock();
    let freed = false;
    function* steps(): Steps<number> {
      try {
        for (;;) yield 0.5;
      } finally {
        freed = true;
      }
    }
    const told: number[] = [];
    const look = () => {
      if (told.length === 3) throw new Error('given up');
    };
    await expect(scheduler.drive('measure', steps(), { look, progress: (done) => told.push(done) })).rejects.toThrow(
      'given up',
    );
    expect([freed, told]).toEqual([true, [0.5, 0.5, 0.5]]);
    await scheduler.run('statement', () => false);
  });
});

test('a semaphore admits a fixed number of holders in order, and an aborted wait leaves the queue', async () => {
  const semaphore = new Semaphore(1);
  const first = await semaphore.take();
  const controller = new AbortController();
  const gone = semaphore.take(controller.signal);
  const order: string[] = [];
  const second = semaphore.run(async () => void order.push('second'));
  const third = semaphore.run(async () => void order.push('third'));
  controller.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  expect(order).toEqual([]);
  first();
  first();
  await Promise.all([second, third]);
  expect(order).toEqual(['second', 'third']);
});

test('a mutex runs one task at a time, even after one that fails', async () => {
  const mutex = new Mutex();
  const failed = mutex.run(() => Promise.reject(new Error('no')));
  const after = mutex.run(async () => 1);
  expect(mutex.waiting).toBe(2);
  await expect(failed).rejects.toThrow('no');
  expect(await after).toBe(1);
});
