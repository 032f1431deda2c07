// The statement cache: bound again for other types or another catalog, never for the same ones;
// least recently used statements are evicted first.

import { describe, expect, it } from 'vitest';
import { parameterType } from '../../src/query/binder/parameters.ts';
import { type Bound, StatementCache } from '../../src/query/statement-cache.ts';

const TEXT = 'MATCH (a:T) WHERE a.n = $n RETURN a.id';
/** Bytes charged for the parsed statement and, below, for the statement bound with one column. */
const TREE = TEXT.length * 100;
const BOUND = TREE + 400;

/** A cache, and the list of texts it asked to have bound. */
function cacheOf(limits?: { statements: number; bytes: number }) {
  const cache = new StatementCache(limits);
  const binds: string[] = [];
  const bind = (text: string, parameters: Record<string, unknown>, catalogVersion = 1): Bound => {
    const prepared = cache.prepare(text);
    return cache.bound(prepared, parameters, catalogVersion, () => {
      for (const name of prepared.parameters) parameterType(name, parameters[name]);
      binds.push(text);
      return { columns: ['id'], place: binds.length } as unknown as Bound;
    });
  };
  return { cache, binds, bind };
}

describe('a statement', () => {
  it('that came twice is read no more', () => {
    const { cache } = cacheOf();
    cache.prepare(TEXT);
    expect([cache.statements, cache.bytes]).toEqual([0, 0]);
    const kept = cache.prepare(TEXT);
    expect(cache.prepare(TEXT)).toBe(kept);
    expect(cache.prepare(`${TEXT} `)).not.toBe(kept);
    expect([cache.statements, cache.bytes]).toEqual([1, TREE]);
  });

  it('names its parameters once each, those in quotes too', () => {
    const { cache } = cacheOf();
    const text = "MATCH (a:T) MEMBERS $m WHERE a.n IN [$x, '$y', $x] AND a.s = '$5' RETURN a.id LIMIT $l";
    expect(cache.prepare(text).parameters).toEqual(['m', 'x', 'y', 'l']);
  });

  it('is bound once when it is asked for again, and again', () => {
    const { binds, bind } = cacheOf();
    bind(TEXT, { n: 1 });
    const kept = bind(TEXT, { n: 2 });
    expect(bind(TEXT, { n: 3, unused: {} })).toBe(kept);
    expect(bind(TEXT, { n: 4 })).toBe(kept);
    expect(binds).toHaveLength(2);
  });

  it('is not kept bound when it is used once', () => {
    const { cache, binds } = cacheOf();
    const prepared = cache.prepare(TEXT);
    const bind = () => cache.bound(prepared, { n: 1 }, 1, () => ({ columns: [String(binds.push(TEXT))] }) as never);
    bind();
    bind();
    expect(binds).toHaveLength(2);
    expect(cache.bytes).toBe(0);
  });

  it('is bound for every type of its parameters', () => {
    const { binds, bind } = cacheOf();
    const values = [1, 1.5, 'x', true, null, [], [1], [1.5], ['x'], [null]];
    const types = new Set(values.map((value) => JSON.stringify(parameterType('n', value))));
    for (const n of values) {
      const before = binds.length;
      const kept = [bind(TEXT, { n }), bind(TEXT, { n }), bind(TEXT, { n })];
      expect(kept[2]).toBe(kept[1]);
      expect(binds.length - before).toBeLessThanOrEqual(2);
    }
    expect(binds.length).toBeGreaterThanOrEqual(types.size);
  });

  it('that misses a parameter, or has one of no type, is left to the binder, which refuses', () => {
    const { binds, bind } = cacheOf();
    for (let i = 0; i < 3; i++) bind(TEXT, { n: 1 });
    for (const parameters of [{}, { n: undefined }, { n: {} }, { n: [1, 'x'] }, { n: Number.NaN }, { N: 1 }])
      for (let i = 0; i < 2; i++) expect(() => bind(TEXT, parameters)).toThrow();
    bind(TEXT, { n: 1 });
    expect(binds).toHaveLength(2);
  });

  it('is bound anew when the catalog changed, and what was bound before is let go of', () => {
    const { cache, binds, bind } = cacheOf();
    for (let i = 0; i < 3; i++) bind(TEXT, { n: 1 }, 1);
    expect(cache.bytes).toBe(TREE + BOUND);
    bind('MATCH (b:T) RETURN b.id', {}, 2);
    expect(cache.bytes).toBe(TREE);
    for (let i = 0; i < 3; i++) bind(TEXT, { n: 1 }, 2);
    expect(binds.filter((text) => text === TEXT)).toHaveLength(3);
    expect(cache.bytes).toBe(TREE + BOUND);
  });

  it('that cannot be read is not kept', () => {
    const { cache } = cacheOf();
    expect(() => cache.prepare('MATCH')).toThrow('found the end');
    expect(cache.statements).toBe(0);
  });

  it('that is long is not kept', () => {
    const { cache, binds, bind } = cacheOf();
    const long = `${TEXT}${' '.repeat(4096)}`;
    for (let i = 0; i < 3; i++) bind(long, { n: 1 });
    expect([cache.statements, cache.bytes, binds.length]).toEqual([0, 0, 3]);
  });
});

describe('what is kept', () => {
  const text = (i: number) => `MATCH (a:T) WHERE a.n = ${i} RETURN a.id`;

  it('is bounded in number; what was used longest ago goes first', () => {
    const { cache } = cacheOf({ statements: 3, bytes: 2 ** 30 });
    const twice = (i: number) => [cache.prepare(text(i)), cache.prepare(text(i))][1];
    const first = twice(1);
    const second = twice(2);
    twice(3);
    expect(cache.prepare(text(1))).toBe(first);
    twice(4);
    expect(cache.statements).toBe(3);
    expect(cache.prepare(text(1))).toBe(first);
    expect(cache.prepare(text(2))).not.toBe(second);
  });

  it('stays, however many texts come once', () => {
    const { cache, binds, bind } = cacheOf({ statements: 3, bytes: 2 ** 30 });
    for (let i = 0; i < 3; i++) bind(TEXT, { n: 1 });
    for (let i = 0; i < 100; i++) bind(text(i), {});
    bind(TEXT, { n: 1 });
    expect(binds.filter((one) => one === TEXT)).toHaveLength(2);
    // Of the texts used only once, the cache remembers just the last few.
    cache.prepare(text(1));
    cache.prepare(text(99));
    expect(cache.statements).toBe(2);
  });

  it('is bounded in bytes', () => {
    const bytes = 10 * text(1).length * 100;
    const { cache, bind } = cacheOf({ statements: 1000, bytes });
    for (let i = 1; i <= 9; i++) {
      bind(text(i), {});
      bind(text(i), {});
      expect(cache.bytes).toBeLessThanOrEqual(bytes);
    }
    // Each is charged twice, parsed and bound, plus one column.
    expect(cache.statements).toBe(4);
  });

  it('is bound for a few combinations of types; the oldest goes first', () => {
    const { cache, binds, bind } = cacheOf();
    const values = [1, 1.5, 'x', true, null];
    cache.prepare(TEXT);
    for (const n of values) bind(TEXT, { n });
    expect(cache.bytes).toBe(TREE + 4 * BOUND);
    bind(TEXT, { n: null });
    expect(binds).toHaveLength(5);
    bind(TEXT, { n: 1 });
    expect(binds).toHaveLength(6);
  });
});
