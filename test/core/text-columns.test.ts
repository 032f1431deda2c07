// Compares searches for the best that use columns of frequencies with a naive model: columns that
// are made, kept, replaced, and held by several searches at once.

import { describe, expect, it } from 'vitest';
import { type Core, finish, loadCore, TEXT_ROLE, type TextBest, type TextQuery } from '../../src/core/index.ts';
import { BUILDS } from './support/instance.ts';
import { type Random, randomFrom } from './support/random.ts';
import { blockOf, expectQuery } from './support/text-judge.ts';
import {
  type Document,
  type Part,
  queryOf,
  randomDocuments,
  randomPart,
  ranked,
  usedBytes,
  wordOf,
} from './support/text-model.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1) + 40;
const AVERAGE = 7;
/** So many best that a search takes several steps. */
const MANY = 5000;
const { should } = TEXT_ROLE;

/** Bytes of a column: 16 for 32 documents, and a byte for the bound of these. */
const columnBytes = (documents: number) => Math.ceil(documents / 32) * 17 + 8;
const word = (text: string): Part => ({ kind: 'word', role: should, word: text });

/** Documents of up to 12 words, each of which is in a sixth of them at least. */
function ofFrequentWords(random: Random, count: number, words: number): Document[] {
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + random.below(12) }, () => wordOf(random.below(words))),
  );
}

function bestOf(documents: readonly Document[], parts: readonly Part[], k: number, average = AVERAGE): number[] {
  const weights = Float64Array.from(parts, (_, i) => 1 + i / 4);
  return ranked(documents, parts, weights, average, () => true)
    .slice(0, k)
    .map(({ row }) => row);
}

/** Begins a search, which pins its columns. Returns what ends it, and whether it has ended. */
function begun(
  query: TextQuery,
  parts: readonly Part[],
  k: number,
  average = AVERAGE,
): { end: () => TextBest; isDone: boolean } {
  finish(query.prepare());
  query.weigh(
    Float64Array.from(parts, (_, i) => 1 + i / 4),
    average,
  );
  const steps = query.top(k, () => Number.NEGATIVE_INFINITY);
  const first = steps.next();
  return { end: () => (first.done === true ? first.value : finish(steps)), isDone: first.done === true };
}

/** Returns the instance with steps that search one window of documents each. */
function inWindows(core: Core): Core {
  const step = (query: number, threshold: number) => core.exports.hg_text_top_step(query, threshold, 1);
  return Object.create(core, { exports: { value: { ...core.exports, hg_text_top_step: step } } }) as Core;
}

/** Takes all memory for regions of at least `least` bytes. */
function exhaust({ exports }: Core, least: number): void {
  for (let bytes = 0xe0000000; bytes >= least; bytes = Math.floor((bytes * 15) / 16))
    while (exports.hg_memory_alloc(bytes) !== 0);
}

describe.each(BUILDS)('columns of frequencies, %s build', (build) => {
  const core = loadCore(build).instantiate();
  const rounds = build === 'release' ? 24 : 6;

  it('give the best of random documents', () => {
    const random = randomFrom(SEED);
    for (let round = 0; round < rounds; round++) {
      const vocabulary = 3 + random.below(60);
      const documents = randomDocuments(random, 20 + random.below(5000), vocabulary, 1 + random.below(30));
      // Lengths about the greatest that fits into a byte, and frequencies about that of a column.
      const long = [0, 14, 15, 16, 254, 255, 256, 300, 40_000][random.below(9)]!;
      for (let i = 0; i < 3 && long > 0; i++)
        documents[random.below(documents.length)] = Array.from({ length: long + i }, (_, n) => wordOf(n % (1 + i)));
      const block = blockOf(core, documents, true);
      for (const count of [1, 2, 2, 3, 7]) {
        const parts = Array.from({ length: count }, (_, i) =>
          i < 4 ? word(wordOf(random.below(Math.min(vocabulary, 9)))) : randomPart(random, vocabulary, documents),
        );
        expectQuery(core, block, documents, parts, random, [1, 10, 300]);
      }
      core.exports.hg_memory_reset();
    }
  });

  it('take as much memory as their block at most, however many words are searched', () => {
    const random = randomFrom(SEED + 1);
    const documents = ofFrequentWords(random, 2000, 60);
    const block = blockOf(core, documents, true);
    const before = usedBytes(core);
    for (let i = 0; i < 150; i++) {
      const parts = Array.from({ length: 1 + random.below(6) }, () => word(wordOf(random.below(60))));
      const query = queryOf(block, parts);
      expect([...begun(query, parts, 10).end().rows]).toEqual(bestOf(documents, parts, 10));
      query.free();
    }
    const columns = Math.floor(block.bytes / columnBytes(documents.length));
    expect(columns).toBeGreaterThan(16);
    expect(columns).toBeLessThan(60);
    expect(usedBytes(core) - before).toBeGreaterThan((columns - 2) * columnBytes(documents.length));
    expect(usedBytes(core) - before).toBeLessThan(block.bytes + columns * 64 + 1500);
    core.exports.hg_memory_reset();
  });

  it('are replaced by those of words that are wanted again, not by those of words wanted once', () => {
    // The frequencies of the last word are too high for a column, so it takes a place, but frees
    // the memory there.
    const last = 60;
    const documents = ofFrequentWords(randomFrom(SEED + 7), 3000, last).map((document, i) =>
      i % 10 === 0 ? [...document, ...Array.from({ length: 20 }, () => wordOf(last))] : document,
    );
    const block = blockOf(core, documents, true);
    const places = 2 * Math.floor(block.bytes / columnBytes(documents.length) / 2);
    expect(places).toBeLessThan(last - 1);
    const usedAfter = (rank: number) => {
      const parts = [word(wordOf(rank))];
      const query = queryOf(block, parts);
      begun(query, parts, 10).end();
      query.free();
      return usedBytes(core);
    };
    const used = Array.from({ length: places }, (_, rank) => usedAfter(rank)).at(-1)!;
    expect([usedAfter(last), usedAfter(last - 1), usedAfter(0)]).toEqual([used, used, used]);
    expect(used - usedAfter(last)).toBeGreaterThanOrEqual(columnBytes(documents.length));
    core.exports.hg_memory_reset();
  });

  it('stay as they are while a search needs them, whatever others do', () => {
    const random = randomFrom(SEED + 2);
    const documents = ofFrequentWords(random, 65_000, 30);
    const block = blockOf(core, documents, true);
    const searches = Array.from({ length: 9 }, (_, i) => {
      const parts = [0, 3, 7, 8].map((more) => word(wordOf((i + more) % 30)));
      const query = queryOf(block, parts);
      return { query, parts, ...begun(query, parts, MANY) };
    });
    expect(searches.filter(({ isDone }) => isDone)).toEqual([]);
    for (const { query, parts, end } of searches.reverse()) {
      expect([...end().rows]).toEqual(bestOf(documents, parts, MANY));
      query.free();
      const other = [word(wordOf(random.below(30)))];
      const query2 = queryOf(block, other);
      begun(query2, other, 5).end();
      query2.free();
    }
    core.exports.hg_memory_reset();
  }, 60_000);

  it.each([1, 2])('have bounds of groups for any average length, whoever needs others: %d words', (count) => {
    const documents = ofFrequentWords(randomFrom(SEED + 6), 9000, 12);
    const block = blockOf(inWindows(core), documents, true);
    const parts = [3, 5].slice(0, count).map((rank) => word(wordOf(rank)));
    // Up by less than 2 %, by more, far up and down, and about the value for which bounds are made.
    const averages = [7, 7.1, 7.139, 7.15, 7.5, 30, 6.9, 6.2, 1, 1e-3, 1e6];
    const expected = new Map(averages.map((average) => [average, bestOf(documents, parts, 10, average)]));
    for (const held of [undefined, ...averages])
      for (const average of averages) {
        const query = queryOf(block, parts);
        const other = queryOf(block, parts);
        const begunBefore = held === undefined ? undefined : begun(other, parts, 10, held);
        expect([...begun(query, parts, 10, average).end().rows]).toEqual(expected.get(average));
        expect(begunBefore?.isDone ?? false).toBe(false);
        if (begunBefore !== undefined) expect([...begunBefore.end().rows]).toEqual(expected.get(held!));
        query.free();
        other.free();
      }
    core.exports.hg_memory_reset();
  });

  it('are not kept of words that many documents have 15 times or more', () => {
    const random = randomFrom(SEED + 5);
    const documents = Array.from({ length: 3000 }, () =>
      Array.from({ length: 1 + random.below(60) }, () => wordOf(random.below(random.below(2) === 0 ? 2 : 9))),
    );
    const block = blockOf(core, documents, true);
    const before = usedBytes(core);
    const used: number[] = [];
    for (const parts of [[word(wordOf(0))], [word(wordOf(1)), word(wordOf(0))], [word(wordOf(0)), word(wordOf(7))]]) {
      const query = queryOf(block, parts);
      for (let i = 0; i < 2; i++) expect([...begun(query, parts, 20).end().rows]).toEqual(bestOf(documents, parts, 20));
      query.free();
      used.push(usedBytes(core) - before);
    }
    // The set itself, and the column of the third search.
    expect(used[1]).toBe(used[0]);
    expect(used[2]! - used[0]!).toBeGreaterThan(documents.length / 2);
    core.exports.hg_memory_reset();
  });

  it('are done without if there is no memory for them', () => {
    const random = randomFrom(SEED + 3);
    const documents = ofFrequentWords(random, 65_536, 9);
    const block = blockOf(core, documents, true);
    const parts = [word(wordOf(1)), word(wordOf(2))];
    const expected = bestOf(documents, parts, 10);
    const without = queryOf(block, [{ kind: 'prefix', role: should, word: 'absent' }]);
    begun(without, [word('absent')], 10).end();
    const query = queryOf(block, parts);
    finish(query.prepare());
    // The memory of the first search is free for the second, but no region is large enough for a
    // column.
    without.free();
    exhaust(core, 32_000);
    const before = usedBytes(core);
    expect([...begun(query, parts, 10).end().rows]).toEqual(expected);
    query.free();
    expect(usedBytes(core)).toBeLessThan(before);
    core.exports.hg_memory_reset();
  });

  it('are freed with their set', () => {
    const documents = ofFrequentWords(randomFrom(SEED + 4), 1000, 5);
    const { exports, memory } = core;
    const block = blockOf(core, documents);
    const before = usedBytes(core);
    const set = exports.hg_text_columns();
    expect(memory.words.subarray(set / 4, set / 4 + 4)).toEqual(new Uint32Array(4));
    exports.hg_text_columns_free(set);
    exports.hg_text_columns_free(0);
    expect(usedBytes(core)).toBe(before);
    expect(block.keepsColumns).toBe(false);
    exports.hg_memory_reset();
  });
});
