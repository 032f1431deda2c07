// Checks that costly attempts are not made again too soon after a failure.

import { expect, test } from 'vitest';
import { CostlyAttempts } from '../../src/core/costly-attempts.ts';

/** Returns attempts that take 50 ms each, and that fail while `state.fails` is set. */
function world() {
  const state = { now: 1000, made: 0, fails: true };
  const attempts = new CostlyAttempts(
    () => {
      state.made++;
      state.now += 50;
      if (state.fails) throw new Error(`failed ${state.made}`);
      return state.made;
    },
    () => state.now,
  );
  return { state, attempts };
}

test('attempts that succeed are never skipped', () => {
  const { state, attempts } = world();
  state.fails = false;
  for (const number of [1, 2, 3]) expect(attempts.make(false)).toBe(number);
});

test('after a failure, further attempts fail at once, for four times as long as the failed attempt took', () => {
  const { state, attempts } = world();
  expect(() => attempts.make(false)).toThrow('failed 1');
  for (const later of [0, 100, 99]) {
    state.now += later;
    expect(() => attempts.make(false)).toThrow('failed 1');
  }
  expect(state.made).toBe(1);
  state.now += 1;
  expect(() => attempts.make(false)).toThrow('failed 2');
  state.fails = false;
  state.now += 200;
  expect(attempts.make(false)).toBe(3);
  expect(attempts.make(false)).toBe(4);
});

test('a forced attempt is made even after a failure', () => {
  const { state, attempts } = world();
  expect(() => attempts.make(false)).toThrow('failed 1');
  expect(() => attempts.make(true)).toThrow('failed 2');
  state.fails = false;
  expect(attempts.make(true)).toBe(3);
});
