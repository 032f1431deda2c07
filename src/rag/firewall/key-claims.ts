// Finds keys of a named table's nodes in a sentence: "Ada met Grace". The edges that the sentence
// cites must have these nodes as members, or repeat the key in another text.
//
// Which keys a text may name is looked up once for the whole text (keyed-support.ts). A key is
// found as whole words, without regard to case, the longest first. A key that is an ordinary word,
// such as "Will", counts only where it is spelled exactly so, and is held against a sentence only
// if it has a capital and does not begin the sentence. Keys without letters are numbers or times to
// the other checks.

import { isEdgeWord, NODE_NOUNS } from '../question/general-words.ts';
import { isStopWord } from '../question/keywords.ts';
import type { Member } from '../retrieval/member-keys.ts';
import type { NodeFacts } from '../retrieval/node-facts.ts';
import type { Claim } from './claims.ts';
import type { Cited, Values } from './edge-values.ts';
import { comparable } from './lookalikes.ts';
import { wholeAt } from './scan.ts';
import { isFormWord, isOwnWord } from './told.ts';

/** What is known about the nodes of a named table. */
export interface Keyed {
  /**
   * Spellings of the keys that occur in the text to be checked, folded as it is, by their
   * comparable form. The longest first.
   */
  readonly spellings: ReadonlyMap<string, readonly string[]>;
  /** Facts about nodes that were given to the rules. */
  readonly nodes: NodeFacts | undefined;
  /** Returns the kind of a member. */
  readonly kindOf: (member: Member) => string;
}

/** A key in a text. */
export interface KeyPlace {
  readonly start: number;
  readonly end: number;
  /** The comparable form of the key. */
  readonly key: string;
  /**
   * Whether the word may have another meaning, so that it is wrong only if it is a member's key.
   */
  readonly isDoubtful: boolean;
}

/** Maximum number of keys in a sentence. */
const MOST_PLACES = 1000;
const NAMES_SOMETHING = /\p{L}|[^\0-\x7f]/u;

/** Returns the keys in folded text, in the order of the text. */
export function keysIn(text: string, keyed: Keyed | undefined): KeyPlace[] {
  if (keyed === undefined || keyed.spellings.size === 0) return [];
  const lower = text.toLowerCase();
  // The offsets of a text whose length changes with its case are not those of the text.
  if (lower.length !== text.length) return [];
  const isFree = new Uint8Array(text.length).fill(1);
  const places: KeyPlace[] = [];
  for (const [key, spellings] of keyed.spellings) {
    if (!NAMES_SOMETHING.test(key)) continue;
    for (let start = wholeAt(lower, key, 0); start >= 0; start = wholeAt(lower, key, start + 1)) {
      const end = start + key.length;
      if (isFree[start] === 0 || isFree[end - 1] === 0) continue;
      const isOrdinary = isOrdinaryWord(key);
      const written = text.slice(start, end);
      if (isOrdinary && !spellings.includes(written)) continue;
      const isFirst = !/[\p{L}\p{N}]/u.test(text.slice(0, start));
      const isDoubtful = isOrdinary && (isFirst || !/^\p{Lu}/u.test(written));
      isFree.fill(0, start, end);
      places.push({ start, end, key, isDoubtful });
      if (places.length === MOST_PLACES) return places;
    }
  }
  return places.sort((a, b) => a.start - b.start);
}

function isOrdinaryWord(word: string): boolean {
  return isStopWord(word) || isFormWord(word) || isOwnWord(word) || NODE_NOUNS.has(word) || isEdgeWord(word, '');
}

/**
 * Returns a claim for each key that is not within `covered`. A doubtful one is a claim only if it
 * is the key of something that the sentence cites.
 */
export function keyClaims(
  places: readonly KeyPlace[],
  covered: readonly Claim[],
  { beside, sentence }: Pick<Cited, 'beside' | 'sentence'>,
): Claim[] {
  const claims: Claim[] = [];
  for (const { start, end, key, isDoubtful } of places) {
    if (covered.some((claim) => claim.start <= start && end <= claim.end)) continue;
    const agrees = beside.hasKey(key);
    if (!agrees && isDoubtful && !sentence.hasKey(key)) continue;
    claims.push({ start, end, agrees, kind: 'value', wrong: `${key} is a node that nothing cited contains` });
  }
  return claims;
}

/**
 * Returns whether a fact about a node, such as `node(Ada, Person)`, is one about a member of a
 * cited edge.
 */
export function isOfNode(
  predicate: string,
  args: readonly unknown[],
  { edges }: Pick<Values, 'edges'>,
  keyed: Keyed | undefined,
): boolean {
  if (keyed === undefined || (predicate !== 'node' && predicate !== 'attribute')) return false;
  const given = comparable(String(args[0]));
  const members = edges.flatMap((edge) => edge.members.filter((member) => comparable(String(member)) === given));
  return members.some((member) => {
    if (predicate === 'node') return args.length === 2 && args[1] === keyed.kindOf(member);
    const attributes = keyed.nodes?.get(member)?.attributes ?? [];
    return args.length === 3 && attributes.some(([column, value]) => column === args[1] && value === args[2]);
  });
}
