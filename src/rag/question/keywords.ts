// Reads the keywords of a text: the words that no other reader took, without stop words.

import type { Reading, Word } from './words.ts';

const STOP_WORDS = new Set(
  `a about above all also am an and any anything are aren't as at be became because been before being between both but by can can't could did do does
  doing don't done during each either else ever every few find first for from further get give given go got had happen happened happening happens has
  have having he her here him his how i i'd i'll i'm i've if in into is isn't it it's its itself just know last let let's like list many may me might
  more most much must my myself near need no nor not now of off on once one only onto or other our out over own per please put really recent same
  say see seen shall she should show since so some someone something still such take tell than that that's the their them then there there's these
  they they're this those through till to together too top under until up upon us very want was wasn't we we're were weren't what what's when when's where
  where's whether which while who who's whom whose why will with within without won't would yes yet you your
  edge edges hyperedge hyperedges hedge node nodes member members vertex vertices event events record records row rows table graph hypergraph
  query question answer data explain describe summarize summarise involving involved involve contain contains containing include includes including
  having same shared sharing share latest newest oldest happened time times date dates day days week weeks month months year years hour hours minute
  minutes second seconds ago today yesterday tomorrow occurred occur exist exists there overall altogether lately recorded`.split(
    /\s+/,
  ),
);
/** Returns whether a word in lower case is a stop word. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Maximum number of keywords. Further keywords would hardly change the ranking. */
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
    if (keywords.size === MOST_KEYWORDS) break;
  }
  return keywords;
}

/** Returns the keyword that a word gives, or undefined if it is taken or gives none. */
export function keywordOf({ kind, lower, taken }: Word): string | undefined {
  if (taken || kind === 'sign' || kind === 'date' || kind === 'time') return undefined;
  const word = (kind === 'word' ? lower.replace(/'s$/, '') : lower).slice(0, MOST_CHARACTERS);
  return STOP_WORDS.has(word) || /^[a-z_']?$/.test(word) ? undefined : word;
}
