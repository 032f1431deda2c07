import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { type Library, loadSnowball } from '../../src/text/snowball.ts';
import { LANGUAGES } from '../../src/text/stemming.ts';
import { Random } from '../support/random.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const WORDS = 10_000;

const require = createRequire(import.meta.url);
const unchanged = require('snowball-stemmers') as Library;
const fast = loadSnowball();

const [, ...CLASSES] = readFileSync(require.resolve('snowball-stemmers'), 'utf8').split(/var (\w+)Stemmer = function/);

/** All endings, beginnings and exceptions that the algorithm of a language looks for. */
function partsOf(language: string): string[] {
  const code = CLASSES[CLASSES.indexOf(language) + 1] ?? '';
  return [...code.matchAll(/new Among\(["'](.*?)["'], -?\d/g)].map((match) => JSON.parse(`"${match[1]}"`) as string);
}

const LATIN = [..."abcdefghijklmnopqrstuvwxyzäöüßéèêçàâëïñóúíáõåø'"];
const CYRILLIC = [...'абвгдежзийклмнопрстуфхцчшщъыьэюя'];

/** Letters, then up to three parts of the algorithm. */
function wordOf(random: Random, letters: readonly string[], parts: readonly string[]): string {
  const any = (list: readonly string[], most: number) =>
    Array.from({ length: random.below(most) }, () => list[random.below(list.length)]!).join('');
  return any(letters, 6) + any(parts, 4);
}

describe('the stemmers as loaded', () => {
  it('knows the parts of the algorithms', () => {
    expect(partsOf('english')).toContain('ational');
    expect(partsOf('german')).toEqual(expect.arrayContaining(['heit', 'ä']));
    expect(partsOf('russian')).toContain('ейше');
  });

  it.each(LANGUAGES.filter((language) => language !== 'none'))('stem as the library does: %s', (language) => {
    const random = new Random(SEED);
    const parts = partsOf(language);
    const letters = language === 'russian' ? CYRILLIC : LATIN;
    const [one, other] = [fast.newStemmer(language), unchanged.newStemmer(language)];
    let changed = 0;
    for (let word = 0; word < WORDS; word++) {
      const text = wordOf(random, letters, parts);
      const stem = other.stem(text);
      if (one.stem(text) !== stem) expect(one.stem(text), `${text}, seed ${SEED}`).toBe(stem);
      if (stem !== text) changed++;
    }
    expect(changed).toBeGreaterThan(WORDS / 4);
  });

  it('stem nothing, and one letter', () => {
    for (const language of LANGUAGES.filter((each) => each !== 'none')) {
      for (const word of ['', 'a', 'y', "'", 'й']) {
        expect(fast.newStemmer(language).stem(word)).toBe(unchanged.newStemmer(language).stem(word));
      }
    }
  });
});
