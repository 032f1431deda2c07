// Checks quotations in a sentence: each must be a text in a cited edge, fact or rule.

import type { Claim } from './claims.ts';
import type { Values } from './edge-values.ts';
import { comparable } from './lookalikes.ts';
import { withoutTags } from './tags.ts';

const QUOTED =
  /(?<!\\)"((?:[^"\\]|\\.){0,2000})"|\u201c([^\u201c\u201d]{0,2000})\u201d|\u00ab([^\u00ab\u00bb]{0,2000})\u00bb|\u00bb([^\u00ab\u00bb]{0,2000})\u00ab|\u201e([^\u201c\u201d\u201e]{0,2000})[\u201c\u201d]|\u300c([^\u300c\u300d]{0,2000})\u300d|\u300e([^\u300e\u300f]{0,2000})\u300f|`([^`]{0,2000})`|(?<![\p{L}\p{N}])['\u2018]([^'\u2018\u2019]{1,300})['\u2019](?![\p{L}\p{N}])/gu;
/** Matches numbers, times, facts and `field=value`, which are checked elsewhere. */
const ELSEWHERE =
  /^(?:\P{L}*|[\p{L}_][\p{L}\p{N}_]*(?:\(.*\)|\s*[=:].*)|\d[\d\s:.,tz/-]*(?:z|utc|gmt)?|\d{1,2}\.? \p{L}+ \d{4}|\p{L}+ \d{1,2},? \d{4})$/u;
/** Terms in answers and prompts, which may be quoted although they are not stored texts. */
const OWN_WORDS = new Set(
  'edge_id event_ts end_ts members member nodes node weight mean_dist_m formation size confidence id score fact facts predicate args rule rules step steps hedge_tag hedge_tags edge edges hyperedge hyperedges true false null'.split(
    ' ',
  ),
);

/**
 * Returns the quotations that claim something. `text` is `original` with facts and pairs blanked
 * out.
 */
export function quoteClaims(text: string, original: string, values: Values): Claim[] {
  const claims: Claim[] = [];
  for (const { 0: quote, index: start } of text.matchAll(QUOTED)) {
    const end = start + quote.length;
    const isKey = quote.startsWith('"') && /^\s*:/.test(text.slice(end, end + 4));
    const verdict = isKey ? 'plain' : verdictOn(original.slice(start + 1, end - 1), values);
    const wrong = 'a text in quotes is not in any cited text';
    if (verdict !== 'plain') claims.push({ start, end, agrees: verdict === 'stored', kind: 'value', wrong });
  }
  return claims;
}

function verdictOn(content: string, values: Values): 'stored' | 'foreign' | 'plain' {
  const whole = comparable(withoutTags(unescaped(content)));
  const quoted = whole.replace(/[.,;:!?]+$/, '');
  if (quoted === '') return 'plain';
  const stored = values.texts();
  if (stored.has(quoted) || stored.has(whole)) return 'stored';
  const name = quoted.replace(/ /g, '_');
  if (ELSEWHERE.test(quoted) || OWN_WORDS.has(name) || values.columns().has(name)) return 'plain';
  return isPartOfStored(quoted, /(?:\.\.\.|…)$/.test(whole), stored) ? 'stored' : 'foreign';
}

/**
 * Returns whether a passage is part of a longer stored text. The passage must begin and end with
 * whole words. If it is the beginning of a stored text, it may end within a word, provided that it
 * is long or is followed by "...".
 */
function isPartOfStored(passage: string, isCut: boolean, stored: ReadonlySet<string>): boolean {
  const isWord = /[\p{L}\p{N}]/u;
  return [...stored].some((text) => {
    const at = passage.length < 3 || text.length > 20_000 ? -1 : text.indexOf(passage);
    const isWhole = !isWord.test(text[at - 1] ?? ' ') && !isWord.test(text[at + passage.length] ?? ' ');
    return at === 0 ? isWhole || isCut || passage.length >= 40 : at > 0 && isWhole;
  });
}

/** Returns the text without the backslashes that JSON adds. */
export function unescaped(content: string): string {
  return content.includes('\\') ? content.replace(/\\(["\\/])/g, '$1').replace(/\\[nrt]/g, ' ') : content;
}
