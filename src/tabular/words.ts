// Interprets the words in the names of tables and columns: sides of an edge, ids, things.

/** Words that indicate which side of an edge a column contains. */
const ROLE_OF_WORD: ReadonlyMap<string, Role> = new Map([
  ...['src', 'source', 'from', 'sender', 'payer', 'origin', 'caller', 'buyer', 'head'].map(
    (word) => [word, 'src'] as const,
  ),
  ...['dst', 'dest', 'destination', 'target', 'to', 'receiver', 'recipient', 'payee', 'callee', 'seller', 'tail'].map(
    (word) => [word, 'dst'] as const,
  ),
  ...['via', 'through', 'channel', 'intermediary', 'broker'].map((word) => [word, 'via'] as const),
]);
export const ID_WORDS: ReadonlySet<string> = new Set('id ids key uuid guid code no number ref fk pk'.split(' '));
/** Things that group several rows, such as an order with its items. */
const GROUP_WORDS = new Set(
  'group event meeting paper article publication order invoice session transaction message thread batch trip flight game match bill case visit basket team project'.split(
    ' ',
  ),
);
/** People and things that take part in events. */
const ENTITY_WORDS = new Set(
  'user customer client person people member author actor account node vertex item product student teacher employee worker player patient doctor device host ip address email phone contact friend follower artist film movie song book tag topic store shop merchant vendor supplier company organization bank city country station airport gene protein drug'.split(
    ' ',
  ),
);
/**
 * Things that are counted or measured. A column of numbers with such a name does not contain nodes.
 */
const AMOUNT_WORDS = new Set(
  'count amount size year age weight duration minute hour second price cost total sum num rate score quantity length level'.split(
    ' ',
  ),
);
const SINGULARS: ReadonlyMap<string, string> = new Map([
  ['people', 'person'],
  ['children', 'child'],
  ['vertices', 'vertex'],
]);

export const ROLES = ['src', 'dst', 'via'] as const;
export type Role = (typeof ROLES)[number];

/**
 * Splits a name into lower-case words: `fromUserID` and `from_user_id` -> from, user, id; `player2`
 * -> player, 2.
 */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/([a-z])(\d+)$/i, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** Returns the words for the thing that a column refers to, without roles, numbers and ID_WORDS. */
export function thingOf(name: string): string[] {
  return unnumbered(name).filter((word) => roleOfWord(word) === undefined && !ID_WORDS.has(word));
}

function unnumbered(name: string): string[] {
  return wordsOf(name).filter((word) => !/^\d+$/.test(word));
}

/** Returns the role of the first word that has one. */
export function roleOf(name: string): Role | undefined {
  for (const word of wordsOf(name)) {
    const role = roleOfWord(word);
    if (role !== undefined) return role;
  }
  return undefined;
}

/**
 * Returns the role that the first or last word gives to the whole name: `from_user` and
 * `user_from_id` have a role, `time_to_close` has none.
 */
export function sideOf(name: string): Role | undefined {
  const words = unnumbered(name).filter((word) => !ID_WORDS.has(word));
  return roleOfWord(words[0] ?? '') ?? roleOfWord(words.at(-1) ?? '');
}

function roleOfWord(word: string): Role | undefined {
  return ROLE_OF_WORD.get(singular(word));
}

/** Whether the name suggests that the values identify something. */
export function saysId(name: string): boolean {
  const last = unnumbered(name).at(-1) ?? '';
  return roleOf(name) !== undefined || ID_WORDS.has(last) || ENTITY_WORDS.has(singular(last));
}

/** True for names like `user_id` and `zip_code`, whose last word means an id. */
export function saysOwnId(name: string): boolean {
  return ID_WORDS.has(unnumbered(name).at(-1) ?? '');
}

export function saysGroup(name: string): boolean {
  return thingOf(name).some((word) => GROUP_WORDS.has(singular(word)));
}

/** True for names like `team_members` and `nodes`, which mean a list of nodes. */
export function saysList(name: string): boolean {
  return wordsOf(name).some((word) => word === 'members' || word === 'nodes') && !saysAmount(name);
}

export function saysAmount(name: string): boolean {
  return wordsOf(name).some((word) => AMOUNT_WORDS.has(singular(word)));
}

export function singular(word: string): string {
  const irregular = SINGULARS.get(word);
  if (irregular !== undefined) return irregular;
  if (/(ss|us|is)$/.test(word) || word.length < 4) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(ches|shes|xes|sses)$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}
