// Reads the keywords of a text: the words that no other reader took, without stop words.

import type { Reading, Word } from './words.ts';

/** Words of grammar, which do not tell texts apart. */
const FUNCTION_WORDS = new Set(
  `a about above all also am an and any anything are aren't as at be became because been before being between both but by can can't could did do does
  doing don't done during each either else ever every few for from further get give given go got had has have having he her here him his how i i'd i'll
  i'm i've if in into is isn't it it's its itself just know let let's like many may me might more most much must my myself no nor not now of off on
  once one only onto or other our out over own per please put really say see seen shall she should since so some someone something still such take than
  that that's the their them then there there's these they they're this those through till to too under until up upon us very was wasn't we we're were
  weren't what what's when when's where where's whether which while who who's whom whose why will with within without won't would yes yet you your
  time times ago today yesterday tomorrow`.split(/\s+/),
);
/** Words that a question about edges has for itself, for edges and for times. */
const ASKING_WORDS = new Set(
  `find first last list near need recent same show tell together top want happen happened happening happens
  edge edges hyperedge hyperedges hedge node nodes member members vertex vertices event events record records row rows table graph hypergraph
  query question answer data explain describe summarize summarise involving involved involve contain contains containing include includes including
  shared sharing share latest newest oldest date dates day days week weeks month months year years hour hours minute
  minutes second seconds occurred occur exist exists overall altogether lately recorded`.split(/\s+/),
);
/** Returns whether a word in lower case is a stop word. */
export function isStopWord(word: string): boolean {
  return FUNCTION_WORDS.has(word) || ASKING_WORDS.has(word);
}

/** Maximum number of keywords that are looked for without a text index. */
export const MOST_KEYWORDS = 32;
const MOST_CHARACTERS = 64;

/**
 * Returns a map from each keyword in lower case to its spelling in the text, in the order of the
 * text. A quoted text is one keyword. Signs, dates, times and single Latin letters are excluded.
 */
export function readKeywords({ words }: Reading): Map<string, string> {
  const keywords = new Map<string, string>();
  for (const one of words) {
    const word = keywordOf(one);
    if (word === undefined || keywords.has(word)) continue;
    keywords.set(word, one.text.slice(0, MOST_CHARACTERS));
  }
  return keywords;
}

/** Returns the keyword that a word gives, or undefined if it is taken or gives none. */
export function keywordOf({ kind, lower, taken }: Word): string | undefined {
  if (taken || kind === 'sign' || kind === 'date' || kind === 'time') return undefined;
  const word = (kind === 'word' ? lower.replace(/'s$/, '') : lower).slice(0, MOST_CHARACTERS);
  if (kind === 'quoted') return word;
  return isStopWord(word) || /^[a-z_']?$/.test(word) ? undefined : word;
}

/**
 * Returns the words of a question that texts may have, in lower case, each once: all but signs,
 * words of grammar and what follows an apostrophe. Of a date with a time, it is the date.
 */
export function readTextWords({ words }: Reading): string[] {
  const all = new Set<string>();
  for (const { kind, lower, taken } of words) {
    if (taken || kind === 'sign' || kind === 'time') continue;
    const word = (kind === 'word' ? lower.replace(/'s$/, '') : kind === 'date' ? dateOf(lower) : lower).slice(
      0,
      MOST_CHARACTERS,
    );
    if (kind === 'quoted' || !(FUNCTION_WORDS.has(word) || /^[dmst_']?$/.test(word))) all.add(word);
  }
  return [...all];
}

/** Returns the date of a time. */
function dateOf(time: string): string {
  return time.split(/[t ]/, 1)[0]!;
}
