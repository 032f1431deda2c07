import { describe, expect, it } from 'vitest';
import { type CachedResult, type CacheKey, ResultCache } from '../../src/virtual/cache.ts';
import { Random } from '../support/random.ts';

function key(change: Partial<CacheKey> = {}): CacheKey {
  return { graph: 'g', specVersion: 1, statement: { sql: 'SELECT', parameters: [] }, fingerprint: 'f', ...change };
}

function result(number: number): CachedResult {
  return { edges: [], skipped: number };
}

describe('the results cache', () => {
  it('uses everything that a result depends on as its key', () => {
    const cache = new ResultCache(1_000_000);
    const others: CacheKey[] = [
      key({ graph: 'h' }),
      key({ specVersion: 2 }),
      key({ statement: { sql: 'SELECT 2', parameters: [] } }),
      key({ statement: { sql: 'SELECT', parameters: [1] } }),
      key({ statement: { sql: 'SELECT', parameters: ['1'] } }),
      key({ statement: { sql: 'SELECT', parameters: [true] } }),
      key({ statement: { sql: 'SELECT', parameters: ['a","b'] } }),
      key({ statement: { sql: 'SELECT', parameters: ['a', 'b'] } }),
      key({ fingerprint: 'f2' }),
    ];
    cache.put(key(), result(0), 10);
    for (const other of others) expect(cache.get(other)).toBeUndefined();
    for (const [number, other] of others.entries()) cache.put(other, result(number + 1), 10);
    for (const [number, other] of others.entries()) expect(cache.get(other)).toEqual(result(number + 1));
    expect(cache.get(key())).toEqual(result(0));
    cache.put(key(), result(99), 10);
    expect(cache.get(key())).toEqual(result(99));
  });

  it('removes the results of one graph and returns their number', () => {
    const cache = new ResultCache(1_000_000);
    for (const fingerprint of ['a', 'b', 'c']) cache.put(key({ fingerprint }), result(1), 10);
    cache.put(key({ graph: 'other' }), result(2), 10);
    expect(cache.clear('g')).toBe(3);
    expect(cache.clear('g')).toBe(0);
    expect(cache.clear('nobody')).toBe(0);
    expect(cache.get(key({ fingerprint: 'a' }))).toBeUndefined();
    expect(cache.get(key({ graph: 'other' }))).toEqual(result(2));
    expect(cache.clear('other')).toBe(1);
    expect(cache.bytes).toBe(0);
  });

  it('drops the least recently used entry when it is full', () => {
    const cache = new ResultCache(10_000);
    for (const fingerprint of ['a', 'b', 'c', 'd']) cache.put(key({ fingerprint }), result(1), 1500);
    expect(cache.get(key({ fingerprint: 'a' }))).toBeDefined();
    cache.put(key({ fingerprint: 'e' }), result(1), 1500);
    const kept = ['a', 'b', 'c', 'd', 'e'].filter((fingerprint) => cache.get(key({ fingerprint })) !== undefined);
    expect(kept).toEqual(['a', 'c', 'd', 'e']);
  });

  it('never exceeds its size, and does not store a result larger than a quarter of that size', () => {
    const cache = new ResultCache(50_000);
    const random = new Random(1);
    for (let number = 0; number < 2000; number++) {
      const given = key({ graph: `g${random.below(5)}`, fingerprint: String(random.below(60)) });
      cache.put(given, result(number), random.below(14_000));
      expect(cache.bytes).toBeLessThanOrEqual(50_000);
      if (random.chance(0.1)) cache.clear(`g${random.below(5)}`);
    }
    expect(cache.bytes).toBeGreaterThan(10_000);
    cache.put(key(), result(1), 12_501);
    expect(cache.get(key())).toBeUndefined();
    for (let graph = 0; graph < 5; graph++) cache.clear(`g${graph}`);
    expect(cache.bytes).toBe(0);
  });

  it('stores nothing if its size is 0, and drops an entry whose new result is too large', () => {
    const none = new ResultCache(0);
    none.put(key(), result(1), 0);
    expect(none.get(key())).toBeUndefined();
    const cache = new ResultCache(10_000);
    cache.put(key(), result(1), 10);
    cache.put(key(), result(2), 5000);
    expect(cache.get(key())).toBeUndefined();
    expect(cache.bytes).toBe(0);
  });
});
