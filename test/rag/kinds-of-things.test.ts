import { describe, expect, it } from 'vitest';
import { examplesOf } from '../../src/rag/question/kinds-of-things.ts';
import { analyzerOf } from '../../src/text/index.ts';

const KINDS = [
  'pet',
  'animal',
  'instrument',
  'sport',
  'hobby',
  'book',
  'movie',
  'food',
  'vehicle',
  'sibling',
  'language',
];
const analyzer = analyzerOf('english');

describe('examples of a kind of things', () => {
  it.each([
    ['pet', 'kitten'],
    ['pets', 'kitten'],
    ['Instruments', 'violin'],
    ['hobbies', 'pottery'],
    ['siblings', 'sister'],
  ])('of %s: %s', (kind, example) => expect(examplesOf(kind)).toContain(example));

  it.each(['kitten', 'table', 'Ada', 'pet shop', '', '…'])('of "%s" are none', (word) =>
    expect(examplesOf(word)).toEqual([]),
  );

  it.each(KINDS)('of %s are words, none twice and none the kind itself', (kind) => {
    const terms = examplesOf(kind).map((example) => analyzer.terms(example));
    expect(terms.every(({ length }) => length === 1)).toBe(true);
    const all = [...terms.flat(), ...analyzer.terms(kind)];
    expect(new Set(all).size).toBe(all.length);
  });
});
