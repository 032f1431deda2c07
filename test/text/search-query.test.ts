import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { Analyzer, parseSearch, type SearchPart } from '../../src/text/index.ts';
import { Random } from '../support/random.ts';
import { CHARACTERS, HOSTILE, randomText } from './texts.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const none = new Analyzer('none');
const english = new Analyzer('english');

/** Writes parts as they could be searched for. */
function written(parts: readonly SearchPart[]): string {
  const sign = { should: '', must: '+', not: '-' };
  const body = {
    word: (text: string) => text,
    phrase: (text: string) => `"${text}"`,
    prefix: (text: string) => `${text}*`,
  };
  return parts.map((part) => sign[part.sign] + body[part.kind](part.terms.join(' '))).join(' ');
}

/** Returns the refusal of a search. */
function refusalOf(query: string): HedgerowError | undefined {
  try {
    parseSearch(query, none);
    return undefined;
  } catch (error) {
    if (error instanceof HedgerowError) return error;
    throw error;
  }
}

describe('a search', () => {
  it('gives its parts', () => {
    expect(parseSearch('budget "travel costs" +Trip -draft eco* -"a b" +"c d" -pre*', none)).toEqual([
      { kind: 'word', terms: ['budget'], sign: 'should' },
      { kind: 'phrase', terms: ['travel', 'costs'], sign: 'should' },
      { kind: 'word', terms: ['trip'], sign: 'must' },
      { kind: 'word', terms: ['draft'], sign: 'not' },
      { kind: 'prefix', terms: ['eco'], sign: 'should' },
      { kind: 'phrase', terms: ['a', 'b'], sign: 'not' },
      { kind: 'phrase', terms: ['c', 'd'], sign: 'must' },
      { kind: 'prefix', terms: ['pre'], sign: 'not' },
    ]);
  });

  it.each([
    ['e-mail', 'e mail'],
    ['"e-mail"', '"e mail"'],
    ['may-travel costs/plan', 'may travel costs plan'],
    ['+e-mail -a-b', '+e +mail -a -b'],
    ['日本-語 x日y', '"日 本" 語 "x 日 y"'],
    ['a😀b (c)', 'a b c'],
    ['"budget"', 'budget'],
    ['+"budget" ""  "!"', '+budget'],
    ['a "b c', 'a "b c"'],
    ['a "b', 'a b'],
    ['a"b c"d', 'a "b c" d'],
    ['"a b"-c', '"a b" c'],
    ['a+b -c a -', 'a b -c'],
    ['- a + b', 'a b'],
    ['+-a --b c', '+a -b c'],
    ['\ta\n+b\u00a0-c', 'a +b -c'],
    ['a* b** *c d*e *', 'a* b* c d e'],
    ['"tra* cos*"', '"tra cos"'],
    ['ab*"c d"', 'ab* "c d"'],
    ['a A á +b +B "x y" X-Y', 'a +b "x y" x y'],
    ['a +a b -b', '+a b -b'],
    ['a a* "a"', 'a a*'],
    ['"a a" a', '"a a" a'],
    ['don’t STRASSE Straße', "don't strasse"],
    ['日本語 +日', '"日 本 語" +日'],
    ['a AND (b OR c)', 'a and b or c'],
    ["it's 100% \\ a:b [x] {y} ~z ^w", "it's 100 a:b x y z w"],
  ])('reads %j as %j', (query, parts) => {
    expect(written(parseSearch(query, none))).toBe(parts);
  });

  it('stems words and phrases, but folds only what is before an asterisk', () => {
    expect(written(parseSearch('Running "travelling costs" Travellin* ÉLAN*', english))).toBe(
      'run "travel cost" travellin* elan*',
    );
  });

  it.each([
    ['', 'at least one word'],
    [' +  - "" !? * ', 'at least one word'],
    ['-a -"b c" -d*', 'only words with "-"'],
    ['e-mail*', 'e-mail* consists of 2 words (e, mail)'],
    [Array.from({ length: 65 }, (_, word) => `w${word}`).join(' '), '65 parts; at most 64'],
    [`"${Array.from({ length: 257 }, (_, word) => `w${word}`).join(' ')}"`, '257 words; at most 256'],
    ['a'.repeat(4097), '4097 characters; at most 4096'],
  ])('is refused with what to do: %.40j', (query, text) => {
    const error = refusalOf(query);
    expect(error?.code).toBe('invalid_input');
    expect(error?.message).toContain(text);
  });

  it('may be as long as the limits', () => {
    expect(parseSearch(Array.from({ length: 64 }, (_, word) => `w${word}`).join(' '), none)).toHaveLength(64);
    expect(parseSearch(`"${'w '.repeat(256)}"`, none)[0]!.terms).toHaveLength(256);
    expect(parseSearch('a '.repeat(2048), none)).toHaveLength(1);
    expect(parseSearch('a'.repeat(4096), none)[0]!.terms[0]).toHaveLength(255);
  });

  it('of any characters gives parts that read the same when they are written, or is refused', () => {
    const random = new Random(SEED);
    let read = 0;
    for (let round = 0; round < 5000; round++) {
      const query = randomText(random, [...CHARACTERS, '"', '+', '-', '*', ' ', ' '], 24);
      if (refusalOf(query) !== undefined) continue;
      read++;
      const parts = parseSearch(query, none);
      const about = `seed ${SEED}, ${JSON.stringify(query)}`;
      for (const { kind, terms } of parts) {
        expect(kind === 'phrase' ? terms.length > 1 : terms.length === 1, about).toBe(true);
        expect(
          terms.every((term) => term !== ''),
          about,
        ).toBe(true);
      }
      // Not those with what is a quotation mark or a boundary when it is read again.
      if (parts.some(({ terms }) => terms.some((term) => !/^[a-z0-9]+$/.test(term)))) continue;
      expect(parseSearch(written(parts), none), about).toEqual(parts);
    }
    expect(read).toBeGreaterThan(1000);
  });

  it.each(Object.entries(HOSTILE))('of hostile text is refused or has at most 64 parts: %s', (_, text) => {
    const query = text.slice(0, 4096);
    const parts = refusalOf(query) === undefined ? parseSearch(query, none) : [];
    expect(parts.length).toBeLessThanOrEqual(64);
    expect(refusalOf(text)?.message).toContain('characters; at most');
  });
});
