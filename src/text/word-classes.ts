// Gives each code point its class of word breaking by UAX 29, from tables of Unicode 16 that never
// change: those of ICU change with the version of Node, and the words of an index must not.
//
// The library unicode-default-word-boundary is used for its tables only. Its rules join a flag to
// the letter before it, pass over characters after a lone surrogate and ignore WB3c after a letter,
// so words.ts has its own. Its version is pinned, because a new table needs a new ANALYZER_VERSION.

import { createRequire } from 'node:module';

/** The values of Word_Break (UAX 29, table 3), as the library numbers them, and one of our own. */
export const OTHER = 0;
export const LINE_FEED = 1;
export const NEWLINE = 2;
export const CARRIAGE_RETURN = 3;
export const SPACE = 4;
export const DOUBLE_QUOTE = 5;
export const SINGLE_QUOTE = 6;
export const MID_NUMBER = 7;
export const MID_NUMBER_LETTER = 8;
export const NUMERIC = 9;
export const MID_LETTER = 10;
export const LETTER = 11;
export const EXTEND_NUMBER_LETTER = 12;
export const FORMAT = 13;
export const EXTEND = 14;
export const HEBREW_LETTER = 15;
export const JOINER = 16;
export const KATAKANA = 17;
export const FLAG = 18;
/**
 * A letter or number whose Word_Break is Other, so that it is a word by itself: ideographs,
 * Hiragana, Thai, and numbers such as ½ and ①.
 */
export const LETTER_ALONE = 21;

/** Code points below this one are looked up in a table of one byte each. */
const TABLE_SIZE = 0x20000;
/** The planes 2 and 3, which Unicode keeps for ideographs. */
const FIRST_IDEOGRAPH = 0x20000;
const LAST_IDEOGRAPH = 0x3fffd;

/**
 * The code points of General_Category L* or N* in Unicode 16 whose Word_Break is Other, below
 * plane 2, as ranges in base 16.
 */
const LETTERS_ALONE = [
  'b2-b3 b9 bc-be 9f4-9f9 b72-b77 bf0-bf2 c78-c7e d58-d5e d70-d78 e01-e30 e32-e33 e40-e46',
  'e81-e82 e84 e86-e8a e8c-ea3 ea5 ea7-eb0 eb2-eb3 ebd ec0-ec4 ec6 edc-edf f2a-f33 1000-102a',
  '103f 1050-1055 105a-105d 1061 1065-1066 106e-1070 1075-1081 108e 1369-137c 1780-17b3 17d7',
  '17dc 17f0-17f9 1950-196d 1970-1974 1980-19ab 19b0-19c9 1a20-1a54 1aa7 2070 2074-2079',
  '2080-2089 2150-215f 2189 2460-249b 24ea-24ff 2776-2793 2cfd 3006-3007 3021-3029 3038-303a',
  '3041-3096 309d-309f 3192-3195 3220-3229 3248-324f 3251-325f 3280-3289 32b1-32bf 3400-4dbf',
  '4e00-9fff a830-a835 a9e0-a9e4 a9e6-a9ef a9fa-a9fe aa60-aa76 aa7a aa7e-aaaf aab1 aab5-aab6',
  'aab9-aabd aac0 aac2 aadb-aadd f900-fa6d fa70-fad9 10107-10133 10175-10178 1018a-1018b',
  '102e1-102fb 10320-10323 10858-1085f 10879-1087f 108a7-108af 108fb-108ff 10916-1091b',
  '109bc-109bd 109c0-109cf 109d2-109ff 10a40-10a48 10a7d-10a7e 10a9d-10a9f 10aeb-10aef',
  '10b58-10b5f 10b78-10b7f 10ba9-10baf 10cfa-10cff 10e60-10e7e 10f1d-10f26 10f51-10f54',
  '10fc5-10fcb 11052-11065 111e1-111f4 11700-1171a 1173a-1173b 11740-11746 118ea-118f2',
  '11c5a-11c6c 11fc0-11fd4 16b5b-16b61 16e80-16e96 17000-187f7 18800-18cd5 18cff-18d08',
  '1b001-1b11f 1b132 1b150-1b152 1b170-1b2fb 1d2c0-1d2d3 1d2e0-1d2f3 1d360-1d378 1e8c7-1e8cf',
  '1ec71-1ecab 1ecad-1ecaf 1ecb1-1ecb4 1ed01-1ed2d 1ed2f-1ed3d 1f100-1f10c',
];

interface Tables {
  /** The class of each code point below TABLE_SIZE. */
  readonly low: Uint8Array;
  /** Ranges above it, ascending: first code point, and class of it and of those after it. */
  readonly high: readonly (readonly [number, number])[];
  readonly pictographic: RegExp;
}

/**
 * What is used of `lib/gen/WordBreakProperty.js`: ascending ranges, and ^[...] of one character.
 */
interface Library {
  readonly WORD_BREAK_PROPERTY: readonly (readonly [start: number, value: number])[];
  readonly extendedPictographic: RegExp;
}

/** Made at the first text that is not ASCII: some 5 ms and 200 KB. */
let tables: Tables | undefined;

/** Returns the class of a code point, which may be a lone surrogate (OTHER). */
export function classOf(codePoint: number): number {
  tables ??= makeTables();
  if (codePoint < TABLE_SIZE) return tables.low[codePoint]!;
  if (codePoint >= FIRST_IDEOGRAPH && codePoint <= LAST_IDEOGRAPH) return LETTER_ALONE;
  let found = OTHER;
  for (const [start, value] of tables.high) {
    if (start > codePoint) break;
    found = value;
  }
  return found;
}

/** Tells whether a code point is Extended_Pictographic, which WB3c asks. */
export function isPictographic(codePoint: number): boolean {
  tables ??= makeTables();
  return tables.pictographic.test(String.fromCodePoint(codePoint));
}

function makeTables(): Tables {
  const require = createRequire(import.meta.url);
  const library = require('unicode-default-word-boundary/lib/gen/WordBreakProperty.js') as Library;
  const ranges = library.WORD_BREAK_PROPERTY;
  const low = new Uint8Array(TABLE_SIZE);
  ranges.forEach(([start, value], index) => {
    if (start < TABLE_SIZE) low.fill(value, start, Math.min(ranges[index + 1]?.[0] ?? TABLE_SIZE, TABLE_SIZE));
  });
  for (const range of LETTERS_ALONE.join(' ').split(' ')) {
    const [first, last] = range.split('-').map((digits) => Number.parseInt(digits, 16));
    low.fill(LETTER_ALONE, first!, (last ?? first!) + 1);
  }
  return { low, high: ranges.filter(([start]) => start >= TABLE_SIZE), pictographic: library.extendedPictographic };
}
