import { describe, expect, it } from 'vitest';
import { Analyzer, type Document, documentOf, Matcher, parseSearch, type SearchPart } from '../../src/text/index.ts';
import { bordersOf, countPhrase } from '../../src/text/matcher.ts';
import { Random } from '../support/random.ts';
import { HOSTILE } from './texts.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const none = new Analyzer('none');

function matches(query: string, ...texts: (string | null)[]): boolean {
  return new Matcher(parseSearch(query, none)).matches(documentOf(none, texts));
}

function tally(query: string, ...texts: (string | null)[]): number[] {
  return [...new Matcher(parseSearch(query, none)).tally(documentOf(none, texts))];
}

/** Counts a part by comparing at each place, without the numbers and borders of the matcher. */
function naiveCount({ kind, terms }: SearchPart, document: Document): number {
  return document.terms.filter((term, at) => {
    if (kind === 'prefix') return term.startsWith(terms[0]!);
    return terms.every(
      (wanted, offset) =>
        document.terms[at + offset] === wanted && document.positions[at + offset] === document.positions[at]! + offset,
    );
  }).length;
}

describe('a document', () => {
  it('has positions with a gap between its texts', () => {
    const document = documentOf(none, ['a b', null, '', 'c', 'd e']);
    expect(document.terms).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect([...document.positions]).toEqual([0, 1, 5, 7, 8]);
    expect(document.length).toBe(5);
  });

  it('of nulls is empty', () => {
    expect(documentOf(none, [null, null])).toEqual({ terms: [], positions: new Uint32Array(0), length: 0 });
    expect(documentOf(none, []).length).toBe(0);
  });
});

describe('a matcher', () => {
  it.each([
    ['budget travel', 'the budget', true],
    ['budget travel', 'nothing', false],
    ['+budget travel', 'the budget', true],
    ['+budget travel', 'travel', false],
    ['+budget +travel', 'budget', false],
    ['+budget +travel', 'travel budget', true],
    ['budget -draft', 'budget', true],
    ['budget -draft', 'budget draft', false],
    ['+budget -draft', 'other', false],
    ['"travel costs"', 'travel costs', true],
    ['"travel costs"', 'costs travel', false],
    ['"travel costs"', 'travel and costs', false],
    ['"travel costs"', 'travel, costs', true],
    ['"a a b"', 'a a a b', true],
    ['trav*', 'The TRAVELLER', true],
    ['trav*', 'tra extra', false],
    ['x -trav*', 'x travel', false],
    ['x -"a b"', 'x b a', true],
    ['+a -a', 'a', false],
    ['e-mail', 'an e-mail', true],
    ['e-mail', 'an email', false],
  ])('decides %j for %j: %j', (query, text, expected) => {
    expect(matches(query, text)).toBe(expected);
  });

  it('finds words in any column, but no phrase across two', () => {
    expect(matches('+a +b', 'a', 'b')).toBe(true);
    expect(matches('"a b"', 'a', 'b')).toBe(false);
    expect(matches('"a b"', 'a', null, 'b')).toBe(false);
    expect(matches('"a b"', null, 'a b')).toBe(true);
  });

  it('finds nothing in a document without words', () => {
    for (const query of ['a', '+a', 'a -b', 'a*', '"a b"']) {
      expect(matches(query, null, '', ' - ')).toBe(false);
    }
  });

  it('counts the occurrences of each part, of phrases also those that overlap', () => {
    expect(tally('a "a a" a* -b "a b a" c', 'a a a b a', 'ab a')).toEqual([5, 2, 6, 1, 1, 0]);
  });

  it('counts as a comparison at each place does', () => {
    const random = new Random(SEED);
    const words = ['a', 'b', 'ab', 'abc', 'c'];
    const textOf = (most: number) => Array.from({ length: random.below(most) }, () => words[random.below(5)]).join(' ');
    for (let round = 0; round < 2000; round++) {
      const query = `${textOf(4)} "${textOf(6)}" +"a ${textOf(4)}" ab* -"${textOf(3)}" x`;
      const parts = parseSearch(query, none);
      const document = documentOf(none, [textOf(20), random.chance(0.2) ? null : textOf(20)]);
      const expected = parts.map((part) => naiveCount(part, document));
      const matcher = new Matcher(parts);
      const about = `seed ${SEED}, round ${round}: ${query}`;
      expect([...matcher.tally(document)], about).toEqual(expected);
      const occurs = (sign: string) => parts.flatMap((part, at) => (part.sign === sign ? [expected[at]! > 0] : []));
      const must = occurs('must');
      const isFound = must.length > 0 ? must.every(Boolean) : occurs('should').some(Boolean);
      expect(matcher.matches(document), about).toBe(isFound && !occurs('not').some(Boolean));
      expect(matcher.matchesTally(matcher.tally(document)), about).toBe(matcher.matches(document));
    }
  });

  it('compares a number with a phrase twice at most, however often the phrase almost occurs', () => {
    const phrase = Int32Array.from({ length: 256 }, (_, at) => (at === 255 ? 1 : 0));
    let reads = 0;
    const counted = new Proxy(phrase, {
      get: (numbers, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads++;
        return Reflect.get(numbers, name, numbers);
      },
    });
    const numbers = new Int32Array(65_536);
    expect(countPhrase(numbers, counted, bordersOf(phrase))).toBe(0);
    expect(reads).toBeGreaterThan(numbers.length);
    // At each number: once or twice to find the length that it matches, once to check it.
    expect(reads).toBeLessThanOrEqual(4 * numbers.length);
    numbers[60_000] = 1;
    expect(countPhrase(numbers, phrase, bordersOf(phrase))).toBe(1);
  });

  it.each(Object.entries(HOSTILE))('judges hostile text: %s', (_, text) => {
    const matcher = new Matcher(parseSearch('a* "a a" "a a a a a a b" -zzz +e*', none));
    const document = documentOf(none, [text, text]);
    expect(document.terms).toHaveLength(document.length);
    const [prefix, pair] = matcher.tally(document);
    expect(prefix).toBe(document.terms.filter((term) => term.startsWith('a')).length);
    expect(pair).toBeLessThanOrEqual(prefix!);
  });
});
