// Text blocks of damaged bytes, and without memory: the check refuses them, or they give answers;
// nothing traps, and nothing is leaked.
import { describe, expect, it } from 'vitest';
import {
  buildTextBlock,
  type Core,
  finish,
  loadCore,
  openTextBlock,
  type PlacedText,
  placeTextBlock,
  RowBitmap,
  TEXT_ROLE,
  TextBlock,
  textCheck,
} from '../../src/core/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { BUILDS } from './support/instance.ts';
import { type Random, randomFrom } from './support/random.ts';
import { type Document, inputOf, leave, randomDocuments, usedBytes, utf8 } from './support/text-model.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const { should, must, not } = TEXT_ROLE;

function place(core: Core, bytes: Uint8Array): PlacedText {
  const pointer = core.exports.hg_memory_alloc(bytes.length) >>> 0;
  core.memory.write(pointer, bytes);
  return { pointer, bytes: bytes.length };
}

/** Returns the error's code, or undefined if the block passes. */
function refusal(core: Core, placed: PlacedText): string | undefined {
  try {
    finish(textCheck(core, placed, 'block'));
  } catch (error) {
    if (error instanceof HedgerowError) return error.code;
    throw error;
  }
  return undefined;
}

/** Asks for everything that a block can answer. */
function useAll(core: Core, block: TextBlock, random: Random): void {
  const term = () => random.below(block.terms);
  const { totals, find, prefix } = {
    totals: block.totals(),
    find: block.find(utf8('a0')),
    prefix: block.prefix(utf8('b')),
  };
  expect(totals.documents).toBeLessThanOrEqual(block.documents);
  expect(find === 0xffffffff || find < block.terms).toBe(true);
  expect(prefix.first + prefix.count).toBeLessThanOrEqual(block.terms);
  if (block.terms === 0) return;
  const query = block.query([
    { kind: 'word', role: should, term: term() },
    { kind: 'prefix', role: should, first: 0, count: block.terms },
    { kind: 'phrase', role: should, terms: [term(), term()] },
    { kind: 'phrase', role: must, terms: [term()] },
    { kind: 'word', role: not, term: term() },
  ]);
  finish(query.prepare());
  const out = new RowBitmap(core, block.documents);
  finish(query.match(out));
  query.weigh(Float64Array.of(1, 2, 3, 4, 5), 7);
  const rows = out.list();
  const scores = query.scores(rows);
  const best = finish(query.top(1000, () => Number.NEGATIVE_INFINITY));
  const sorted = [...rows.keys()].sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, 1000);
  expect([...best.rows]).toEqual(sorted.map((i) => rows[i]!));
  query.free();
  out.free();
}

describe.each(BUILDS)('the bytes of a text block, %s build', (build) => {
  const core = loadCore(build).instantiate();
  const random = randomFrom(SEED);
  const samples: Document[][] = [
    [['b', 'a', 'b'], [], ['ab']],
    randomDocuments(random, 400, 30, 12),
    [...randomDocuments(random, 20, 300, 40), new Array<string>(300).fill('a0')],
  ];

  it.each(samples.map((documents, i) => ({ sample: ['small', 'many documents', 'a long document'][i], documents })))(
    'may have any one changed, or be cut anywhere: $sample',
    ({ documents }) => {
      const good = Uint8Array.from(buildTextBlock(core, inputOf(documents)));
      const before = usedBytes(core);
      const rounds = build === 'debug' ? 3000 : 8000;
      let refused = 0;
      let passed = 0;
      for (let round = 0; round < rounds; round++) {
        const bytes = good.slice();
        const at = round < good.length * 2 ? round >> 1 : random.below(good.length);
        bytes[at]! ^= round & 1 ? 1 << random.below(8) : 1 + random.below(255);
        const placed = place(core, bytes);
        const code = refusal(core, placed);
        if (code === undefined) {
          passed++;
          useAll(core, new TextBlock(core, placed.pointer), random);
        } else {
          expect(code).toBe('corrupt');
          refused++;
        }
        core.exports.hg_memory_free(placed.pointer);
      }
      expect(refused).toBeGreaterThan(rounds / 10);
      expect(passed).toBeGreaterThan(0);
      for (let length = 0; length < good.length; length += 1 + random.below(1 + (good.length >> 9))) {
        const cut = good.slice(0, length);
        const placed = place(core, cut);
        expect(refusal(core, placed)).toBe('corrupt');
        // The size in the header, made to fit, does not help.
        if (length >= 64) new DataView(core.memory.bytes.buffer).setUint32(placed.pointer + 4, length, true);
        expect(refusal(core, placed)).toBe('corrupt');
        core.exports.hg_memory_free(placed.pointer);
      }
      expect(usedBytes(core)).toBe(before);
    },
  );

  it('may be random after a valid header', () => {
    const good = Uint8Array.from(buildTextBlock(core, inputOf(samples[1]!)));
    const before = usedBytes(core);
    for (let round = 0; round < 2000; round++) {
      const bytes = good.slice();
      const from = 64 + random.below(good.length - 64);
      const to = Math.min(good.length, from + 1 + random.below(60));
      for (let at = from; at < to; at++) bytes[at] = random.below(4) === 0 ? 255 : random.below(256);
      const placed = place(core, bytes);
      if (refusal(core, placed) === undefined) useAll(core, new TextBlock(core, placed.pointer), random);
      core.exports.hg_memory_free(placed.pointer);
    }
    expect(usedBytes(core)).toBe(before);
  });

  it('are refused if any byte of an entry of a posting block, of the header or of a length is changed', () => {
    // With 304 lengths of one byte, no gap follows in which one more document would have no words.
    const documents = Array.from({ length: 304 }, (_, row) => ['w', ...new Array<string>(row % 5).fill('w')]);
    const good = Uint8Array.from(buildTextBlock(core, inputOf(documents)));
    const view = new DataView(good.buffer);
    const postings = view.getUint32(48, true);
    const tag = 32;
    const dictionary = view.getUint32(44, true);
    for (let at = 0; at < postings + 3 * 12; at++) {
      if ((at >= tag && at < tag + 4) || (at >= dictionary && at < postings)) continue;
      const bytes = good.slice();
      bytes[at]! ^= 1;
      const placed = place(core, bytes);
      expect(refusal(core, placed), `byte ${at}`).toBe('corrupt');
      core.exports.hg_memory_free(placed.pointer);
    }
  });

  it('say that a version is not known', () => {
    const bytes = buildTextBlock(core, inputOf(samples[0]!));
    bytes[8] = 4;
    const placed = place(core, bytes);
    expect(() => openTextBlock(core, placed, 'block')).toThrow('a format version that this build does not read');
    core.exports.hg_memory_free(placed.pointer);
  });

  it('can be checked in part, and the check given up', () => {
    const big = loadCore(build).instantiate();
    const placed = placeTextBlock(big, inputOf(randomDocuments(random, 6000, 3000, 20)));
    const before = usedBytes(big);
    const check = textCheck(big, placed, 'block');
    expect(check.next().done).toBe(false);
    expect(usedBytes(big)).toBeGreaterThan(before);
    check.return();
    expect(usedBytes(big)).toBe(before);
  });
});

describe.each(BUILDS)('a text block without free memory, %s build', (build) => {
  const core = loadCore(build).instantiate();
  const documents = randomDocuments(randomFrom(SEED + 9), 500, 40, 12);
  const input = inputOf(documents);

  /**
   * Runs an operation with more and more memory, until it succeeds. Returns how often it failed.
   */
  function starve(prepare: () => TextBlock | undefined, run: (block: TextBlock | undefined) => void): number {
    let failures = 0;
    for (let left = 0; ; left += 700) {
      core.exports.hg_memory_reset();
      const block = prepare();
      leave(core, left);
      const before = usedBytes(core);
      let code: string | undefined;
      try {
        run(block);
      } catch (error) {
        if (!(error instanceof HedgerowError)) throw error;
        code = error.code;
      }
      expect(usedBytes(core)).toBe(before);
      if (code === undefined) return failures;
      expect(code).toBe('overloaded');
      failures++;
    }
  }

  it('is not built, not checked, and not queried, and nothing is leaked', () => {
    expect(
      starve(
        () => undefined,
        () => void buildTextBlock(core, input),
      ),
    ).toBeGreaterThan(20);
    const placed = () => placeTextBlock(core, input);
    let at: PlacedText = { pointer: 0, bytes: 0 };
    const opened = () => {
      at = placed();
      return new TextBlock(core, at.pointer);
    };
    expect(starve(opened, () => finish(textCheck(core, at, 'block')))).toBeGreaterThan(2);
    const failures = starve(opened, (block) => {
      const query = block!.query([
        { kind: 'prefix', role: should, first: 0, count: block!.terms },
        { kind: 'phrase', role: should, terms: [0, 1] },
        { kind: 'word', role: should, term: 1 },
      ]);
      try {
        finish(query.prepare());
        query.weigh(Float64Array.of(1, 1, 1), 5);
        expect(finish(query.top(400, () => Number.NEGATIVE_INFINITY)).rows.length).toBeGreaterThan(100);
      } finally {
        query.free();
      }
    });
    expect(failures).toBeGreaterThan(10);
  });
});
