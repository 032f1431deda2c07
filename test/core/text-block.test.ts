// Compares text blocks with a naive model: terms, counts, matches, scores and the best of random
// documents and queries.
import { describe, expect, it } from 'vitest';
import { buildTextBlock, finish, loadCore, NO_TERM, RowBitmap, TEXT_ROLE } from '../../src/core/index.ts';
import { BUILDS } from './support/instance.ts';
import { randomFrom } from './support/random.ts';
import { blockOf, expectQuery } from './support/text-judge.ts';
import {
  type Document,
  inputOf,
  matches,
  type Part,
  queryOf,
  randomDocuments,
  randomPart,
  scoreOf,
  termsOf,
  usedBytes,
  utf8,
  wordOf,
} from './support/text-model.ts';

const { should, must, not } = TEXT_ROLE;
const SEED = Number(process.env.HEDGEROW_SEED ?? 1);

const word = (text: string, role: 0 | 1 | 2 = should): Part => ({ kind: 'word', role, word: text });
const phrase = (words: string[], role: 0 | 1 | 2 = should): Part => ({ kind: 'phrase', role, words });

describe('the format', () => {
  it('is that of the worked example in FORMAT.md', () => {
    const core = loadCore('debug').instantiate();
    const bytes = buildTextBlock(core, inputOf([['b', 'a', 'b'], [], ['ab']], 9));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const header = [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60].map((at) => view.getUint32(at, true));
    expect(header).toEqual([0x54584554, 103, 3, 3, 2, 3, 4, 0, 9, 1, 72, 80, 99, 0, 0, 0]);
    expect(Buffer.from(bytes.subarray(64)).toString('hex')).toBe(
      '030001' + '0000000000' + '0000000000000000' + '00016100000001' + '01016200020000' + '0001620104' + '20040102',
    );
  });
});

describe.each(BUILDS)('a text block, %s build', (build) => {
  const core = loadCore(build).instantiate();
  const rounds = build === 'release' ? 60 : 15;

  it('finds its terms, prefixes and counts', () => {
    const random = randomFrom(SEED);
    for (let round = 0; round < rounds; round++) {
      const documents = randomDocuments(random, random.below(300), 1 + random.below(400), random.below(30));
      const block = blockOf(core, documents);
      const terms = termsOf(documents);
      expect([block.documents, block.terms, block.tag]).toEqual([documents.length, terms.length, 7]);
      const nonEmpty = documents
        .map((document) => document.filter((text) => text !== null).length)
        .filter((n) => n > 0);
      expect(block.totals()).toEqual({ words: nonEmpty.reduce((a, b) => a + b, 0), documents: nonEmpty.length });
      expect(terms.map((term) => block.find(utf8(term)))).toEqual([...terms.keys()]);
      for (const probe of [
        '',
        'a',
        'zzz',
        '\u{10ffff}',
        ...terms.slice(0, 50).flatMap((term) => [`${term}0`, term.slice(0, -1)]),
      ]) {
        expect(block.find(utf8(probe))).toBe(terms.includes(probe) ? terms.indexOf(probe) : NO_TERM);
        const inside = terms.filter((term) => term.startsWith(probe));
        const { first, count } = block.prefix(utf8(probe));
        expect(count).toBe(inside.length);
        if (count > 0) expect(first).toBe(terms.indexOf(inside[0]!));
      }
      const half = new RowBitmap(core, documents.length);
      half.setRange(0, documents.length >> 1);
      terms.slice(0, 40).forEach((term, ordinal) => {
        const rows = [...documents.keys()].filter((row) => documents[row]!.includes(term));
        expect(block.documentsOf(ordinal)).toBe(rows.length);
        expect(block.documentsOf(ordinal, half)).toBe(rows.filter((row) => row < documents.length >> 1).length);
      });
      const lower = nonEmpty.length === documents.length ? nonEmpty.slice(0, documents.length >> 1) : undefined;
      if (lower !== undefined) expect(block.totals(half).words).toBe(lower.reduce((a, b) => a + b, 0));
      core.exports.hg_memory_reset();
    }
  });

  it('answers random queries like the model', () => {
    const random = randomFrom(SEED + 1);
    for (let round = 0; round < rounds; round++) {
      const vocabulary = 2 + random.below(60);
      const documents = randomDocuments(random, 1 + random.below(1200), vocabulary, 1 + random.below(25));
      const block = blockOf(core, documents);
      for (let i = 0; i < 4; i++) {
        const parts = Array.from({ length: 1 + random.below(5) }, () => randomPart(random, vocabulary, documents));
        expectQuery(core, block, documents, parts, random, [1, 2, 10, 100, 1000]);
      }
      core.exports.hg_memory_reset();
    }
  });

  it('finds the best of documents in many windows, with frequent words and long documents', () => {
    const random = randomFrom(SEED + 5);
    for (let round = 0; round < rounds / 5; round++) {
      const vocabulary = 3 + random.below(40);
      const documents = randomDocuments(random, 3000 + random.below(4000), vocabulary, 1 + random.below(30));
      // Lengths that do not fit into one or two bytes, and frequencies that do not fit into one.
      const long = [0, 0, 255, 256, 300, 70_000][random.below(6)]!;
      for (let i = 0; i < 3 && long > 0; i++)
        documents[random.below(documents.length)] = Array.from({ length: long + i }, (_, n) => wordOf(n % (1 + i)));
      const block = blockOf(core, documents);
      for (const count of [1, 2, 2, 3, 7]) {
        const parts = Array.from({ length: count }, () => word(wordOf(random.below(Math.min(vocabulary, 9)))));
        expectQuery(core, block, documents, parts, random, [1, 10, 300]);
      }
      core.exports.hg_memory_reset();
    }
  });

  it('has terms in 0, 1, 127, 128, 129, 256, 257 and all documents', () => {
    const counts = [1, 2, 127, 128, 129, 256, 257, 600];
    const documents = Array.from({ length: 600 }, (_, row) => [
      'w',
      ...counts.flatMap((count) =>
        row % Math.floor(600 / count) === 0 && row / Math.floor(600 / count) < count ? [`n${count}`] : [],
      ),
      ...new Array<string>(row % 7).fill('w'),
    ]);
    const block = blockOf(core, documents);
    for (const count of counts) expect(block.documentsOf(block.find(utf8(`n${count}`)))).toBe(count);
    const random = randomFrom(SEED + 2);
    const words = ['w', 'absent', ...counts.map((count) => `n${count}`)];
    for (const a of words) {
      for (const b of words) {
        expectQuery(core, block, documents, [word(a), word(b)], random, [1, 10, 600]);
        expectQuery(core, block, documents, [word(a, must), word(b), phrase(['w', a])], random, [3]);
        expectQuery(core, block, documents, [word(a), word(b, not)], random, [3]);
      }
    }
    core.exports.hg_memory_reset();
  });

  it('finds phrases with repeated words, overlapping, not across a gap, and of many positions', () => {
    const long = Array.from({ length: 70_000 }, (_, i) => (i % 3 === 2 ? 'b' : 'a'));
    const documents: Document[] = [
      ['a', 'a', 'a', 'a'],
      ['a', null, 'a'],
      ['b', 'a', 'b', 'a', 'b'],
      [],
      [null, null],
      long,
      [...new Array<null>(3000).fill(null), 'b', 'a', 'a'],
    ];
    const block = blockOf(core, documents);
    const random = randomFrom(SEED + 3);
    for (const words of [
      ['a', 'a'],
      ['a', 'b', 'a'],
      ['b', 'a', 'b'],
      ['a', 'a', 'a', 'a'],
      ['b'],
      ['a', 'absent'],
      ['b', 'b'],
    ]) {
      for (let i = 0; i < 4; i++) expectQuery(core, block, documents, [phrase(words)], random, [1, 7]);
      expectQuery(core, block, documents, [phrase(words, must), word('b')], random, [7]);
      expectQuery(core, block, documents, [word('a'), phrase(words, not)], random, [7]);
    }
    core.exports.hg_memory_reset();
  });

  it('can be empty, or without words', () => {
    for (const documents of [[], [[]], [[], [null]]] as Document[][]) {
      const block = blockOf(core, documents);
      expect([block.documents, block.terms, block.totals()]).toEqual([documents.length, 0, { words: 0, documents: 0 }]);
      expect(block.prefix(utf8(''))).toEqual({ first: 0, count: 0 });
      const query = queryOf(block, [word('a'), phrase(['a', 'b']), { kind: 'prefix', role: must, word: 'a' }]);
      finish(query.prepare());
      query.weigh(Float64Array.of(1, 1, 1), 1);
      expect([...finish(query.top(10, () => Number.NEGATIVE_INFINITY)).rows]).toEqual([]);
    }
    core.exports.hg_memory_reset();
  });

  it('refuses what is not a list of words', () => {
    const good = inputOf([['a', 'b'], ['b']]);
    const wrong = [
      { ...good, stream: Uint32Array.of(0, 1, 2) },
      { ...good, stream: Uint32Array.of(0, 0, 0) },
      { ...good, offsets: Uint32Array.of(0, 3, 2) },
      { ...good, offsets: Uint32Array.of(1, 2, 3) },
      { ...good, termBytes: utf8('ba') },
      { ...good, termBytes: utf8('aa') },
      { ...good, termOffsets: Uint32Array.of(0, 0, 2) },
      { ...inputOf([['a'.repeat(1025)]]) },
    ];
    const before = usedBytes(core);
    for (const input of wrong) expect(() => buildTextBlock(core, input)).toThrow('hg_text_build');
    expect(() => buildTextBlock(core, inputOf(new Array<Document>(65_537).fill([])))).toThrow('hg_text_build');
    expect(usedBytes(core)).toBe(before);
    const block = blockOf(core, [['a'.repeat(1024), 'b']]);
    expect(block.find(utf8('a'.repeat(1024)))).toBe(0);
    expect(() => block.query([])).toThrow('hg_text_query');
    expect(() => block.query([{ kind: 'word', role: should, term: 2 }])).toThrow('hg_text_query');
    expect(() => block.query([{ kind: 'phrase', role: should, terms: [] }])).toThrow('hg_text_query');
    expect(() => block.query([{ kind: 'phrase', role: should, terms: [0, 2] }])).toThrow('hg_text_query');
    expect(() => block.query([{ kind: 'prefix', role: should, first: 1, count: 2 }])).toThrow('hg_text_query');
    expect(() => block.documentsOf(2)).toThrow('hg_text_documents');
  });
});

describe.each(BUILDS)('a text block of 65,536 documents, %s build', (build) => {
  it('answers in steps of bounded work, each of which comes further', () => {
    const core = loadCore(build).instantiate();
    const random = randomFrom(SEED + 4);
    const documents = randomDocuments(random, 65_536, 3000, 20);
    const block = blockOf(core, documents);
    const parts: Part[] = [
      word('a0'),
      word('äx1'),
      phrase(['a0', 'äx1']),
      { kind: 'prefix', role: should, word: 'b' },
      word('bxy2', not),
    ];
    for (const asked of [parts.slice(0, 2), parts, [word('a0', must), word('äx1', must), ...parts.slice(2)]]) {
      const query = queryOf(block, asked);
      const out = new RowBitmap(core, documents.length);
      let steps = 0;
      for (const _ of query.prepare()) steps++;
      for (const _ of query.match(out)) steps++;
      const weights = Float64Array.from(asked, (_, i) => 1 + i);
      query.weigh(weights, 9);
      const search = query.top(25, () => Number.NEGATIVE_INFINITY);
      let step = search.next();
      for (; step.done !== true; step = search.next()) steps++;
      const rows = out.list();
      expect([...rows]).toEqual([...documents.keys()].filter((row) => matches(documents[row]!, asked)));
      const scores = query.scores(rows);
      const sorted = [...rows.keys()].sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, 25);
      expect([...step.value.rows]).toEqual(sorted.map((i) => rows[i]!));
      if (asked.length > 2) expect(steps).toBeGreaterThan(3);
      for (const i of sorted) expect(scores[i]).toBe(scoreOf(documents[rows[i]!]!, asked, weights, 9));
      query.free();
      out.free();
    }
  }, 120_000);
});
