import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { classOf, LETTER, LETTER_ALONE, NUMERIC, OTHER } from '../../src/text/word-classes.ts';
import { wordsOf } from '../../src/text/words.ts';
import { Random } from '../support/random.ts';
import { CHARACTERS, HOSTILE, randomText } from './texts.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);

/** Of UAX 29 and of WordBreakTest.txt: texts, and their segments with a letter or number. */
const CASES: [string, string[]][] = [
  ['', []],
  [' \t\n.,!?-', []],
  ['The quick (“brown”) fox can’t jump 32.3 feet, right?', 'The quick brown fox can’t jump 32.3 feet right'.split(' ')],
  ["can't 'quoted' rock'n'roll dogs' ''x''", ["can't", 'quoted', "rock'n'roll", 'dogs', 'x']],
  ["a''b a.'b a'1 1'a", ['a', 'b', 'a', 'b', 'a', '1', '1', 'a']],
  ['3.14 1,000,000.50 1;2 1:2 1..2 .5 5.', ['3.14', '1,000,000.50', '1;2', '1', '2', '1', '2', '5', '5']],
  ['example.com a:b c:1 a,b a;b', ['example.com', 'a:b', 'c', '1', 'a', 'b', 'a', 'b']],
  ['foo_bar _x x_ __ _ 1_2 a_.b', ['foo_bar', '_x', 'x_', '1_2', 'a_', 'b']],
  ['e-mail a@b.com C++ C#', ['e', 'mail', 'a', 'b.com', 'C', 'C']],
  ['3a A3 x²', ['3a', 'A3', 'x', '²']],
  ['naïve nai\u0308ve', ['naïve', 'nai\u0308ve']],
  ['co\u00adop a\u200db', ['co\u00adop', 'a\u200db']],
  ['\u0308a \u0308', ['a']],
  ["can\u0308'\u0308t 1\u0308,\u03082", ["can\u0308'\u0308t", '1\u0308,\u03082']],
  ['日本語のテキスト', ['日', '本', '語', 'の', 'テキスト']],
  ['𠀀𠀁', ['𠀀', '𠀁']],
  ['한국어 검색', ['한국어', '검색']],
  ['ก็ไทย', ['ก็', 'ไ', 'ท', 'ย']],
  ['צה"ל ג\' אב"', ['צה"ל', "ג'", 'אב']],
  ['а·б a·b', ['а·б', 'a·b']],
  ['😀 🇦🇧🇨 👩‍👩‍👧', []],
  ['a😀b 👍🏽x', ['a', 'b', 'x']],
  ['a\u200d😀b', ['a\u200d😀', 'b']],
  ['🇦a🇧', ['a']],
  ['\ud800a\udc00b \ud800', ['a', 'b']],
  ['a\u2028b\u0085c\r\nd\u0308', ['a', 'b', 'c', 'd\u0308']],
  ['a\u2028\u0308b', ['a', 'b']],
  ['½ ① Ⅷ ٣٫٤', ['½', '①', 'Ⅷ', '٣٫٤']],
];

/** A text that counts how often one of its units is read. */
class CountedText extends String {
  reads = 0;

  override charCodeAt(index: number): number {
    this.reads++;
    return super.charCodeAt(index);
  }

  override codePointAt(index: number): number | undefined {
    this.reads++;
    return super.codePointAt(index);
  }
}

describe('the words of a text', () => {
  it.each(CASES)('are the segments of UAX 29 with a letter or number: %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it('are the same for ASCII by the short form of the rules and by all of them', () => {
    const random = new Random(SEED);
    const ascii = Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code)).filter((c) => !/\s/.test(c));
    const joining = [...'aB1_\'.:,;"-'];
    for (let round = 0; round < 20_000; round++) {
      const text = randomText(random, round % 2 ? ascii : joining, 12);
      // The last character is a word of nothing, and its piece is not ASCII.
      expect(wordsOf(text), `seed ${SEED}, ${JSON.stringify(text)}`).toEqual(wordsOf(`${text}…`));
    }
  });

  it('are those of ICU, where its rules are those of UAX 29', () => {
    const random = new Random(SEED);
    const icu = new Intl.Segmenter('en', { granularity: 'word' });
    // ICU has dictionaries for these, and some versions do not join words at a colon.
    const characters = CHARACTERS.filter(
      (character) => !/[\p{scx=Han}\p{scx=Kana}\p{scx=Hira}\p{scx=Thai}\p{scx=Hang}:]/u.test(character),
    );
    for (let round = 0; round < 20_000; round++) {
      const text = randomText(random, characters, 10);
      const expected = Array.from(icu.segment(text), ({ segment }) => segment.replace(/^[ \n\t]+/, ''));
      expect(wordsOf(text), `seed ${SEED}, ${JSON.stringify(text)}`).toEqual(
        expected.filter((segment) => /[\p{L}\p{N}]/u.test(segment)),
      );
    }
  });

  it.each(Object.entries(HOSTILE))('are found by reading each unit a few times: %s', (_, text) => {
    const counted = new CountedText(text);
    const words = wordsOf(counted as unknown as string);
    expect(words).toEqual(wordsOf(text));
    expect(counted.reads).toBeGreaterThanOrEqual(text.length);
    expect(counted.reads).toBeLessThanOrEqual(4 * text.length);
    expect(words.join('').length).toBeLessThanOrEqual(text.length);
  });
});

describe('the classes of characters', () => {
  it('have the numbers of the library', () => {
    expect(['a', '1', '\u0308', '語', '½', '…'].map((character) => classOf(character.codePointAt(0)!))).toEqual([
      LETTER,
      NUMERIC,
      14,
      LETTER_ALONE,
      LETTER_ALONE,
      OTHER,
    ]);
  });

  it('never change: an index that exists would not find its words', () => {
    const hash = createHash('sha256');
    hash.update(Uint8Array.from({ length: 0x110000 }, (_, codePoint) => classOf(codePoint)));
    expect(hash.digest('hex')).toBe('4c46b1b990b2ce40533fb5b3b6e459df7c48aedbd09decfbee280e5999c2be20');
  });
});
