// Evaluates `date(x)`: the days of times, and the texts for these days.

import { isoDay } from '../../../iso-time.ts';
import { constant, type NumberVector, type Vector, vectorOf } from './vector.ts';

const DAY_SECONDS = 86_400;

/** Converts times in seconds to days since 1970. */
export function dayVector(seconds: Vector, count: number): Vector {
  if (seconds.kind === 'constant')
    return constant(seconds.value === null ? null : Math.floor((seconds.value as number) / DAY_SECONDS));
  const { values: given, nulls } = numbers(seconds);
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) values[i] = Math.floor(given[i]! / DAY_SECONDS);
  return { kind: 'number', values, nulls };
}

/** Converts days since 1970 to texts such as 2024-05-02. Each distinct day is formatted once. */
export function dateVector(days: Vector, count: number): Vector {
  if (days.kind === 'constant') return constant(days.value === null ? null : isoDay(days.value as number));
  const { values, nulls } = numbers(days);
  const codes = new Uint32Array(count);
  const texts: string[] = [];
  const known = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    const day = nulls?.[i] === 1 ? 0 : values[i]!;
    let code = known.get(day);
    if (code === undefined) {
      code = texts.push(isoDay(day)) - 1;
      known.set(day, code);
    }
    codes[i] = code;
  }
  return { kind: 'text', codes, texts, nulls };
}

/**
 * Returns a vector of numbers. The values of groups and of returned items are plain values, which
 * are converted here.
 */
function numbers(vector: Vector): NumberVector {
  const made = vector.kind === 'value' ? vectorOf(vector.values, 'integer') : vector;
  if (made.kind !== 'number') throw new Error(`a time came as a ${made.kind} vector`);
  return made;
}
