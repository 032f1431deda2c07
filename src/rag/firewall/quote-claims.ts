// Checks texts in quotes: they must be texts of what is cited.

import type { Claim } from './claims.ts';
import type { Values } from './edge-values.ts';
import { comparable } from './lookalikes.ts';
import { withoutTags } from './tags.ts';

const QUOTED =
  /(?<!\\)"((?:[^"\\]|\\.){0,2000})"|\u201c([^\u201c\u201d]{0,2000})\u201d|\u00ab([^\u00ab\u00bb]{0,2000})\u00bb|\u00bb([^\u00ab\u00bb]{0,2000})\u00ab|\u201e([^\u201c\u201d\u201e]{0,2000})[\u201c\u201d]|\u300c([^\u300c\u300d]{0,2000})\u300d|\u300e([^\u300e\u300f]{0,2000})\u300f|`([^`]{0,2000})`|(?<![\p{L}\p{N}])['\u2018]([^'\u2018\u2019]{1,300})['\u2019](?![\p{L}\p{N}])/gu;
/** Terms of answers and contexts, which may be quoted without being stored texts. */
const OWN_WORDS = new Set(
  'edge_id event_ts members member nodes node weight mean_dist_m formation size confidence id score fact facts predicate args rule rules step steps hedge_tag hedge_tags edge edges hyperedge hyperedges true false null'.split(
    ' ',
  ),
);

/**
 * The quotes of `text` that claim something. Facts are already blanked out of `text`; `original`
 * still has them.
 */
export function quoteClaims(text: string, original: string, values: Values): Claim[] {
  const claims: Claim[] = [];
  for (const match of text.matchAll(QUOTED)) {
    const end = match.index + match[0].length;
    const content = original.slice(match.index + 1, end - 1);
    const isKey = /^\s*:/.test(text.slice(end, end + 4)) && match[0].startsWith('"');
    const verdict = isKey ? 'plain' : verdictOn(content, values);
    if (verdict === 'plain') continue;
    const wrong = 'a text in quotes is no text of what is cited';
    claims.push({ start: match.index, end, agrees: verdict === 'stored', kind: 'value', wrong });
  }
  return claims;
}

function verdictOn(content: string, values: Values): 'stored' | 'foreign' | 'plain' {
  const whole = comparable(withoutTags(unescaped(content)));
  const quoted = whole.replace(/[.,;:!?]+$/, '');
  if (quoted === '') return 'plain';
  const stored = values.texts();
  if (stored.has(quoted) || stored.has(whole)) return 'stored';
  if (!/\p{L}/u.test(quoted)) return 'plain'; // numbers and times
  const name = quoted.replace(/ /g, '_');
  if (OWN_WORDS.has(name) || values.columns().has(name)) return 'plain';
  // a fact or `field=value`, checked elsewhere
  if (/^[\p{L}_][\p{L}\p{N}_]*(?:\(.*\)|\s*[=:].*)$/u.test(quoted)) return 'plain';
  if (
    /^\d[\d\s:.,tz/-]*(?:z|utc|gmt)?$/.test(quoted) ||
    /^\d{1,2}\.? \p{L}+ \d{4}$|^\p{L}+ \d{1,2},? \d{4}$/u.test(quoted)
  )
    return 'plain'; // a time
  return isPartOfStored(quoted, /(?:\.\.\.|…)$/.test(whole), stored) ? 'stored' : 'foreign';
}

/** Whether it is a passage of a longer stored text, or the beginning of one if cut off by "...". */
function isPartOfStored(passage: string, isCut: boolean, stored: ReadonlySet<string>): boolean {
  if (passage.length < 3) return false;
  for (const text of stored) {
    const at = text.length > 20_000 ? -1 : text.indexOf(passage);
    if (at < 0) continue;
    const isWord = /[\p{L}\p{N}]/u;
    const isWhole = !isWord.test(text[at - 1] ?? ' ') && !isWord.test(text[at + passage.length] ?? ' ');
    if (isWhole || (at === 0 && isCut) || (at === 0 && passage.length >= 40)) return true;
  }
  return false;
}

/** The text without the backslashes of JSON. */
export function unescaped(content: string): string {
  return content.includes('\\') ? content.replace(/\\(["\\/])/g, '$1').replace(/\\[nrt]/g, ' ') : content;
}
