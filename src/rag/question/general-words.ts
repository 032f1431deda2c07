// Recognises general words, which name the edges of any table or describe all of them. A question
// that contains only such words means the most recent edges.

import { stemmer } from 'stemmer';
import type { Reading } from './words.ts';

const EDGE_NOUNS = new Set(
  `edge edges hyperedge hyperedges event events record records row rows result results item items entry entries match matches hit hits meeting meetings
  contact contacts message messages email emails mail mails interaction interactions`.split(/\s+/),
);
const OF_ALL = new Set(
  'happen happened happening happens occur occurred occurs latest newest oldest earliest recent recently lately everything anything'.split(
    ' ',
  ),
);
/** Words for the members of edges. */
export const NODE_NOUNS: ReadonlySet<string> = new Set(
  'node nodes member members vertex vertices participant participants people persons person user users individuals'.split(
    ' ',
  ),
);
/** Irregular English verb forms and their base forms. */
const IRREGULAR = new Map(
  `met:meet sent:send paid:pay wrote:write written:write spoke:speak said:say knew:know saw:see went:go sold:sell bought:buy told:tell led:lead held:hold
  left:leave gave:give took:take came:come made:make got:get taught:teach rode:ride drove:drive flew:fly ate:eat fought:fight found:find lent:lend won:win`
    .split(/\s+/)
    .map((pair) => pair.split(':') as [string, string]),
);

/** Returns the stem of an English word by Porter's algorithm: `meet` for `met` and `meetings`. */
export function stemOf(word: string): string {
  const lower = word.toLowerCase();
  return stemmer(IRREGULAR.get(lower) ?? lower);
}

/** Returns the stems of the parts of a name such as `kept_calls` or `whoMet`. */
export function stemsOfName(name: string): string[] {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
    .map(stemOf);
}

/** Returns whether a word names edges in general, or is a part of the table's name. */
export function isEdgeWord(word: string, tableName: string): boolean {
  return EDGE_NOUNS.has(word) || stemsOfName(tableName).includes(stemOf(word));
}

/** Returns whether a text is empty, or contains a general word. */
export function asksForEdges({ words }: Reading, tableName: string): boolean {
  return (
    words.length === 0 ||
    words.some(({ kind, lower }) => kind === 'word' && (OF_ALL.has(lower) || isEdgeWord(lower, tableName)))
  );
}
