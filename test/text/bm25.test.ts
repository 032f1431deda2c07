import { describe, expect, it } from 'vitest';
import {
  Analyzer,
  documentOf,
  idf,
  K1,
  Matcher,
  parseSearch,
  Statistics,
  scoreOf,
  weight,
} from '../../src/text/index.ts';

const none = new Analyzer('none');
const TEXTS = [
  'travel costs of the budget',
  'the budget of the year and the costs of travel',
  'travel travel',
  '',
  'a draft about travelling',
];

/** Returns the score of each text that matches, as an engine without an index would find it. */
function scoresOf(query: string, texts: readonly (string | null)[] = TEXTS): (number | undefined)[] {
  const parts = parseSearch(query, none);
  const matcher = new Matcher(parts);
  const statistics = new Statistics(parts);
  const documents = texts.map((text) => documentOf(none, [text]));
  for (const document of documents) statistics.add(document);
  return documents.map((document) => {
    const counts = matcher.tally(document);
    if (!matcher.matchesTally(counts)) return undefined;
    return scoreOf(counts, statistics.idfs(), document.length, statistics.averageLength);
  });
}

describe('idf', () => {
  it('is the logarithm of the formula', () => {
    expect(idf(3, 1)).toBeCloseTo(Math.log(1 + 2.5 / 1.5), 15);
    expect(idf(1000, 10)).toBeCloseTo(4.5573799, 6);
  });

  it('falls with the documents in which the term occurs, and stays above 0', () => {
    for (let matching = 0; matching < 100; matching++) {
      expect(idf(100, matching)).toBeGreaterThan(idf(100, matching + 1));
    }
    expect(idf(100, 100)).toBeGreaterThan(0);
  });
});

describe('the weight of a part', () => {
  it('is that of the formula', () => {
    expect(weight(0.5, 2, 4, 4)).toBeCloseTo(0.5 * 1.375, 15);
    expect(weight(1, 3, 10, 5)).toBeCloseTo((3 * 2.2) / (3 + 1.2 * (0.25 + 0.75 * 2)), 15);
  });

  it('is 0 without an occurrence, also where there is no word at all', () => {
    expect(weight(1, 0, 0, 0)).toBe(0);
  });

  it('rises with the occurrences to at most idf * (k1 + 1), and falls with the length', () => {
    for (let count = 1; count < 50; count++) {
      expect(weight(2, count + 1, 60, 40)).toBeGreaterThan(weight(2, count, 60, 40));
      expect(weight(2, 5, count + 1, 20)).toBeLessThan(weight(2, 5, count, 20));
    }
    expect(weight(2, 1e9, 60, 40)).toBeLessThan(2 * (K1 + 1));
  });
});

describe('statistics', () => {
  it('count documents with a word, their words, and those in which a term or prefix occurs', () => {
    const statistics = new Statistics(parseSearch('travel trav* "the budget" -draft', none));
    for (const text of TEXTS) statistics.add(documentOf(none, [text, null]));
    expect(statistics.documents).toBe(4);
    expect(statistics.words).toBe(21);
    expect(statistics.averageLength).toBe(5.25);
    expect(['travel', 'the', 'budget', 'draft', 'year'].map((term) => statistics.matching(term))).toEqual([
      3, 2, 2, 1, 0,
    ]);
    expect(statistics.matchingPrefix('trav')).toBe(4);
  });

  it('of nothing have no average', () => {
    const statistics = new Statistics(parseSearch('a', none));
    expect([statistics.documents, statistics.words, statistics.averageLength]).toEqual([0, 0, 0]);
  });

  it('sum the idf of a phrase, a word twice in it twice, and give none to -not', () => {
    const parts = parseSearch('budget "travel travel" "travel costs" trav* -draft', none);
    const statistics = new Statistics(parts);
    for (const text of TEXTS) statistics.add(documentOf(none, [text]));
    const expected = [idf(4, 2), 2 * idf(4, 3), idf(4, 3) + idf(4, 2), idf(4, 4), 0];
    for (const [at, value] of statistics.idfs().entries()) expect(value).toBeCloseTo(expected[at]!, 14);
  });
});

describe('a score', () => {
  it('is the sum of its parts, worked out by hand', () => {
    // N = 3, avgdl = 4; "b" is in one document of 4 words, twice.
    const [first, second, third] = scoresOf('b', ['a b c b', 'a a a', 'c c c c c']);
    expect(first).toBeCloseTo(Math.log(1 + 2.5 / 1.5) * ((2 * 2.2) / (2 + 1.2)), 14);
    expect([second, third]).toEqual([undefined, undefined]);
  });

  it('adds parts that should occur, and nothing for -not', () => {
    const [both] = scoresOf('travel budget');
    expect(both).toBeCloseTo(scoresOf('travel')[0]! + scoresOf('budget')[0]!, 14);
    expect(scoresOf('travel -draft')).toEqual(scoresOf('travel'));
    expect(scoresOf('+travel budget')[0]).toBe(scoresOf('travel budget')[0]);
  });

  it('takes a prefix as one term', () => {
    const texts = ['aa ab', 'aa x', 'y y'];
    expect(scoresOf('a*', texts)[0]).toBeCloseTo(weight(idf(3, 2), 2, 2, 2), 14);
  });

  it('takes a phrase as often as it occurs', () => {
    const texts = ['a b a b', 'a b x x', 'b a x x'];
    const [twice, once, never] = scoresOf('"a b"', texts);
    expect(twice).toBeCloseTo(weight(2 * idf(3, 3), 2, 4, 4), 14);
    expect(once).toBeCloseTo(weight(2 * idf(3, 3), 1, 4, 4), 14);
    expect(never).toBeUndefined();
  });

  it('does not change with documents without words', () => {
    expect(scoresOf('travel', [...TEXTS, null, ' ', null]).slice(0, TEXTS.length)).toEqual(scoresOf('travel'));
  });
});
