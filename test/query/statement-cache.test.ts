// Tests the statement cache: statements are bound again for other types or another catalog, but not
// for the same ones, and the least recently used statements are evicted first.

import { describe, expect, it } from 'vitest';
import { parameterType } from '../../src/query/binder/parameters.ts';
import { type Bound, StatementCache } from '../../src/query/statement-cache.ts';

const TEXT = 'MATCH (a:T) WHERE a.n = $n RETURN a.id';
/**
 * Bytes charged for the parse tree of the statement (TREE) and for a bound form with one column
 * (BOUND).
 */
const TREE = TEXT.length * 100;
const BOUND = TREE + 400;

/** Returns a cache, a function that binds, and the list of the texts that were bound. */
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

describe('the statement cache', () => {
  it('keeps the parse tree of a statement from its second use on, and does not parse the text again', () => {
    const { cache } = cacheOf();
    cache.prepare(TEXT);
    expect([cache.statements, cache.bytes]).toEqual([0, 0]);
    const kept = cache.prepare(TEXT);
    expect(cache.prepare(TEXT)).toBe(kept);
    expect(cache.prepare(`${TEXT} `)).not.toBe(kept);
    expect([cache.statements, cache.bytes]).toEqual([1, TREE]);
  });

  it('lists the parameters of a statement once each, including those in quotes', () => {
    const { cache } = cacheOf();
    const text = "MATCH (a:T) MEMBERS $m WHERE a.n IN [$x, '$y', $x] AND a.s = '$5' RETURN a.id LIMIT $l";
    expect(cache.prepare(text).parameters).toEqual(['m', 'x', 'y', 'l']);
  });

  it('keeps the bound form of a statement from its second use on', () => {
    const { binds, bind } = cacheOf();
    bind(TEXT, { n: 1 });
    const kept = bind(TEXT, { n: 2 });
    expect(bind(TEXT, { n: 3, unused: {} })).toBe(kept);
    expect(bind(TEXT, { n: 4 })).toBe(kept);
    expect(binds).toHaveLength(2);
  });

  it('does not keep the bound form of a statement that was prepared only once', () => {
    const { cache, binds } = cacheOf();
    const prepared = cache.prepare(TEXT);
    const bind = () => cache.bound(prepared, { n: 1 }, 1, () => ({ columns: [String(binds.push(TEXT))] }) as never);
    bind();
    bind();
    expect(binds).toHaveLength(2);
    expect(cache.bytes).toBe(0);
  });

  it('has one bound form for each combination of parameter types', () => {
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

  it('leaves missing parameters and parameters without a type to the binder, which refuses them', () => {
    const { binds, bind } = cacheOf();
    for (let i = 0; i < 3; i++) bind(TEXT, { n: 1 });
    for (const parameters of [{}, { n: undefined }, { n: {} }, { n: [1, 'x'] }, { n: Number.NaN }, { N: 1 }])
      for (let i = 0; i < 2; i++) expect(() => bind(TEXT, parameters)).toThrow();
    bind(TEXT, { n: 1 });
    expect(binds).toHaveLength(2);
  });

  it('binds a statement again when the catalog has changed, and then drops the old bound forms', () => {
    const { cache, binds, bind } = cacheOf();
    for (let i = 0; i < 3; i++) bind(TEXT, { n: 1 }, 1);
    expect(cache.bytes).toBe(TREE + BOUND);
    bind('MATCH (b:T) RETURN b.id', {}, 2);
    expect(cache.bytes).toBe(TREE);
    for (let i = 0; i < 3; i++) bind(TEXT, { n: 1 }, 2);
    expect(binds.filter((text) => text === TEXT)).toHaveLength(3);
    expect(cache.bytes).toBe(TREE + BOUND);
  });

  it('does not keep a statement that cannot be parsed', () => {
    const { cache } = cacheOf();
    expect(() => cache.prepare('MATCH')).toThrow('found the end');
    expect(cache.statements).toBe(0);
  });

  it('does not keep a long statement', () => {
    const { cache, binds, bind } = cacheOf();
    const long = `${TEXT}${' '.repeat(4096)}`;
    for (let i = 0; i < 3; i++) bind(long, { n: 1 });
    expect([cache.statements, cache.bytes, binds.length]).toEqual([0, 0, 3]);
  });
});

describe('the contents of the cache', () => {
  const text = (i: number) => `MATCH (a:T) WHERE a.n = ${i} RETURN a.id`;

  it('are limited in number, and the least recently used statement is evicted first', () => {
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

  it('stay in the cache, however many texts are used only once', () => {
    const { cache, binds, bind } = cacheOf({ statements: 3, bytes: 2 ** 30 });
    for (let i = 0; i < 3; i++) bind(TEXT, { n: 1 });
    for (let i = 0; i < 100; i++) bind(text(i), {});
    bind(TEXT, { n: 1 });
    expect(binds.filter((one) => one === TEXT)).toHaveLength(2);
    // The cache remembers only the last few of the texts that were used once.
    cache.prepare(text(1));
    cache.prepare(text(99));
    expect(cache.statements).toBe(2);
  });

  it('are limited in bytes', () => {
    const bytes = 10 * text(1).length * 100;
    const { cache, bind } = cacheOf({ statements: 1000, bytes });
    for (let i = 1; i <= 9; i++) {
      bind(text(i), {});
      bind(text(i), {});
      expect(cache.bytes).toBeLessThanOrEqual(bytes);
    }
    // Each statement is charged twice, parsed and bound, plus one column.
    expect(cache.statements).toBe(4);
  });

  it('have bound forms for only a few combinations of types, of which the oldest is dropped first', () => {
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
