import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cutTerm, foldCase, foldDiacritics } from '../../src/text/folding.ts';
import { ANALYZER_VERSION, Analyzer, isLanguage, LANGUAGES, type Language } from '../../src/text/index.ts';
import { classOf, OTHER } from '../../src/text/word-classes.ts';
import { Random } from '../support/random.ts';
import { CHARACTERS, HOSTILE, randomText } from './texts.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);

/** Texts and their terms without stemming. */
const FOLDED: [string, string][] = [
  ['The QUICK Fox', 'the quick fox'],
  ['Straße STRASSE ẞ', 'strasse strasse ss'],
  ['ΟΔΟΣ οδος ὈΔΌΣ', 'οδοσ οδοσ οδοσ'],
  ['İstanbul ISTANBUL ılık ILIK', 'istanbul istanbul ılık ilik'],
  ['naïve nai\u0308ve Ÿ', 'naive naive y'],
  ['ｆｕｌｌ ﬁne x² ½ Ⅷ ①', 'full fine x 2 1⁄2 viii 1'],
  ['Łódź Bjørn Ærø œuvre Đorđe', 'lodz bjorn aero oeuvre dorde'],
  ['ёлка Ёлка йод', 'елка елка иод'],
  ["can’t can't co\u00adop a\u200db", "can't can't coop ab"],
  ['שָׁלוֹם مُحَمَّد أحمد', 'שלום محمد احمد'],
  ['が か\u3099 ｶﾞ กี่', 'が が ガ กี่'],
  ['हिन्दी हिंदी', 'हिन्दी हिंदी'],
  ['한국 \u1112\u1161\u11ab국', '한국 한국'],
  ['˜ ˘', ''],
  ['a\u037ab \u037a', 'ab'],
];

/** Words of a language, and their terms. */
const STEMMED: [Language, string, string][] = [
  ['english', "running connections John's travelling skies", 'run connect john travel sky'],
  ['german', 'Häuser Haus Straßen aufräumen Mädchen', 'haus haus strass aufraum madch'],
  ['french', "l'avion d’Élections continuellement aujourd'hui chevaux", "avion elect continuel aujourd'hui cheval"],
  ['spanish', 'corriendo canciones niñas', 'corr cancion nin'],
  ['italian', "dell'Acqua abbandonata città", 'acqua abbandon citt'],
  ['portuguese', 'corações boatos', 'coraco boat'],
  ['dutch', 'lichamelijk ideeën opheffen', 'licham ideeen opheff'],
  ['swedish', 'katterna jaktkarlarne', 'katt jaktkarl'],
  ['russian', 'важнейшими поёт поет книгами', 'важн поет поет книг'],
  ['none', "running l'avion", "running l'avion"],
];

const none = new Analyzer('none');

describe('an analyzer', () => {
  it.each(FOLDED)('folds case, width and diacritics: %s', (text, terms) => {
    expect(none.terms(text).join(' ')).toBe(terms);
  });

  it.each(STEMMED)('stems %s: %s', (language, text, terms) => {
    expect(new Analyzer(language).terms(text).join(' ')).toBe(terms);
  });

  it('gives a text and its upper case, and both normal forms, the same terms', () => {
    for (const language of LANGUAGES) {
      const analyzer = new Analyzer(language);
      const text = STEMMED.find(([each]) => each === language)![1];
      const terms = analyzer.terms(text);
      expect(terms.length).toBeGreaterThan(1);
      for (const other of [text.toUpperCase(), text.normalize('NFD'), text.normalize('NFC')]) {
        expect(analyzer.terms(other)).toEqual(terms);
      }
    }
  });

  it('gives the same terms whatever it has analysed before, also of more words than it keeps', () => {
    const random = new Random(SEED);
    const used = new Analyzer('german');
    for (let word = 0; word < 20_000; word++) used.terms(`w${word}en häuser`);
    for (let round = 0; round < 300; round++) {
      const text = randomText(random, CHARACTERS, 40);
      expect(used.terms(text), `seed ${SEED}`).toEqual(new Analyzer('german').terms(text));
    }
  });

  it('folds but does not stem what is before an asterisk', () => {
    expect(new Analyzer('english').folded('Travelling Élan')).toEqual(['travelling', 'elan']);
    expect(new Analyzer('french').folded("l'Élan")).toEqual(['elan']);
  });

  it('knows its languages', () => {
    expect(LANGUAGES.every(isLanguage)).toBe(true);
    expect(['English', 'klingon', '', 'constructor'].filter(isLanguage)).toEqual([]);
    expect(new Analyzer('dutch').language).toBe('dutch');
  });

  it.each(Object.entries(HOSTILE))('gives terms of at most 255 bytes: %s', (_, text) => {
    for (const analyzer of [none, new Analyzer('french')]) {
      const terms = analyzer.terms(text);
      expect(terms.every((term) => term !== '' && Buffer.byteLength(term) <= 255)).toBe(true);
      expect(terms.length).toBeLessThanOrEqual(text.length);
    }
  });
});

describe('a long word', () => {
  it('is cut to 255 bytes at a code point', () => {
    expect(none.terms(`${'a'.repeat(300)} b`)).toEqual(['a'.repeat(255), 'b']);
    expect(none.terms('я'.repeat(300))).toEqual(['я'.repeat(127)]);
    expect(none.terms(`a${'𐐷'.repeat(300)}`)).toEqual([`a${'𐐷'.repeat(63)}`]);
    expect(cutTerm('語'.repeat(85))).toBe('語'.repeat(85));
    expect(cutTerm('語'.repeat(86))).toBe('語'.repeat(85));
  });

  it('never has half of a surrogate pair', () => {
    for (const before of ['', 'a']) expect(foldCase(before + '𐐷'.repeat(600)).isWellFormed()).toBe(true);
  });
});

describe('folding', () => {
  it('does not change what is folded', () => {
    const random = new Random(SEED);
    for (let round = 0; round < 5000; round++) {
      const once = foldDiacritics(foldCase(randomText(random, CHARACTERS, 8)));
      expect(foldDiacritics(foldCase(once)), `seed ${SEED}, ${JSON.stringify(once)}`).toBe(once);
    }
  });

  it('of any character gives a term without white space, asterisk or quotation mark', () => {
    const wrong: string[] = [];
    for (const character of wordCharacters()) {
      if (none.terms(`a${character}b`).some((term) => /[\s*"]/.test(term))) wrong.push(character);
    }
    // A Hebrew abbreviation has its quotation mark within; no other word does.
    expect(wrong).toEqual([]);
  });

  it('never changes: an index that exists would not find its words', () => {
    expect(ANALYZER_VERSION).toBe(1);
    const hash = createHash('sha256');
    for (const character of wordCharacters()) {
      hash.update(none.terms(character).join(' '));
      hash.update(none.terms(`e${character}\u0301`).join(' '));
      hash.update('\n');
    }
    for (const [language, text] of STEMMED) hash.update(new Analyzer(language).terms(text).join(' '));
    expect(hash.digest('hex')).toBe('e2c28f9ced385192ef5380fc0cae5a97389213d682f5044dcf26a1fb0da12847');
  });
});

/** Large ranges of characters that are all alike: ideographs, Hangul, Egyptian, Tangut. */
const ALIKE = [
  [0x3400, 0x9fff],
  [0xac00, 0xd7a3],
  [0x13000, 0x18cff],
  [0x20000, 0x2f7ff],
  [0x2fa20, 0x3ffff],
] as const;

/** Returns every character that can be part of a word, of those that are alike every 64th. */
function* wordCharacters(): Generator<string> {
  for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
    if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
    if (codePoint % 64 !== 0 && ALIKE.some(([first, last]) => codePoint >= first && codePoint <= last)) continue;
    if (classOf(codePoint) !== OTHER) yield String.fromCodePoint(codePoint);
  }
}
