// What the names of tables and columns reveal: words, roles, labels.

import { IDENTIFIER } from '../../model/columns.ts';

/** Words in a column's name that tell its side of an edge. */
const ROLE_OF_WORD: ReadonlyMap<string, string> = new Map([
  ...['src', 'source', 'from', 'sender', 'payer', 'origin', 'caller', 'buyer', 'head'].map(
    (word) => [word, 'src'] as const,
  ),
  ...['dst', 'dest', 'destination', 'target', 'to', 'receiver', 'recipient', 'payee', 'callee', 'seller', 'tail'].map(
    (word) => [word, 'dst'] as const,
  ),
  ...['via', 'through', 'channel', 'intermediary', 'broker'].map((word) => [word, 'via'] as const),
]);
const ID_WORDS = new Set(['id', 'ids', 'key', 'uuid', 'guid', 'code', 'no', 'number', 'ref', 'fk', 'pk']);
/** Things whose rows belong together. */
const GROUP_WORDS = new Set(
  'group event meeting paper article publication order invoice session transaction message thread batch trip flight game match bill case visit basket team project'.split(
    ' ',
  ),
);
/** The people and things that take part in events. */
const ENTITY_WORDS = new Set(
  'user customer client person people member author actor account node vertex item product student teacher employee worker player patient doctor device host ip address email phone contact friend follower artist film movie song book tag topic store shop merchant vendor supplier company organization bank city country station airport gene protein drug'.split(
    ' ',
  ),
);
const SINGULARS: ReadonlyMap<string, string> = new Map([
  ['people', 'person'],
  ['children', 'child'],
  ['vertices', 'vertex'],
]);
/** Best candidates first. */
const TIME_WORDS =
  'event_ts ts timestamp event_time time datetime occurred at when date day epoch created started begin start'.split(
    ' ',
  );
const LATER_WORDS = new Set(['updated', 'modified', 'deleted', 'end', 'ended', 'expires', 'expired']);

/** `fromUserID` and `from_user_id` -> from, user, id; `player2` -> player, 2. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/([a-z])(\d+)$/i, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** The words that say what a column refers to, without roles, numbers and `id`. */
export function thingOf(name: string): string[] {
  return unnumbered(name).filter((word) => !ROLE_OF_WORD.has(word) && !ID_WORDS.has(word));
}

function unnumbered(name: string): string[] {
  return wordsOf(name).filter((word) => !/^\d+$/.test(word));
}

export function roleOf(name: string): string | undefined {
  for (const word of wordsOf(name)) if (ROLE_OF_WORD.has(word)) return ROLE_OF_WORD.get(word);
  return undefined;
}

/** Whether the name suggests that the values identify something. */
export function saysId(name: string): boolean {
  const words = unnumbered(name);
  const last = words[words.length - 1] ?? '';
  return words.some((word) => ROLE_OF_WORD.has(word)) || ID_WORDS.has(last) || ENTITY_WORDS.has(singular(last));
}

export function saysGroup(name: string): boolean {
  return thingOf(name).some((word) => GROUP_WORDS.has(singular(word)));
}

/**
 * Lower for names more likely to be the time of an event; undefined if the name does not suggest a
 * time.
 */
export function timeRank(name: string): number | undefined {
  const words = wordsOf(name);
  const rank = TIME_WORDS.findIndex((time) => time === name.toLowerCase() || words.includes(time));
  if (rank < 0) return undefined;
  return words.some((word) => LATER_WORDS.has(word)) ? rank + TIME_WORDS.length : rank;
}

export function singular(word: string): string {
  const irregular = SINGULARS.get(word);
  if (irregular !== undefined) return irregular;
  if (/(ss|us|is)$/.test(word) || word.length < 4) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(ches|shes|xes|sses)$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

/** `bank_accounts` -> `BankAccount`. */
export function labelOf(words: readonly string[], otherwise: string): string {
  const last = words.length - 1;
  const parts = words.map((word, index) => (index === last ? singular(word) : word));
  return identifier(parts.map((word) => word[0]!.toUpperCase() + word.slice(1)).join(''), otherwise);
}

/** `from_user_id` -> `from_user`. */
export function memberNameOf(column: string, otherwise: string): string {
  const words = wordsOf(column);
  const stem = words.length > 1 && ID_WORDS.has(words[words.length - 1]!) ? words.slice(0, -1) : words;
  return identifier(stem.join('_'), otherwise);
}

function identifier(text: string, otherwise: string): string {
  const cut = (/^[0-9]/.test(text) ? `_${text}` : text).slice(0, 60);
  return IDENTIFIER.test(cut) ? cut : otherwise;
}

/** `name`, or the same with the first number from 2 on that makes it unique (ignoring case). */
export function unused(name: string, used: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; used.has(free.toLowerCase()); number++) free = `${name}${number}`;
  return free;
}
