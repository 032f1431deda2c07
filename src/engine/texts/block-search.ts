// Finds words in the text block of a segment: the rows that match a search, and how often its words
// occur in live rows.

import {
  type Core,
  type DeadRows,
  NO_TERM,
  type ResidentSegment,
  RowBitmap,
  TEXT_ROLE,
  type TextBlock,
  type TextPart,
} from '../../core/index.ts';
import { finishBy } from '../../schedule/steps.ts';
import type { SearchPart } from '../../text/index.ts';

/**
 * Time for one search in one block without a pause, in us. Usual searches take less than 1 ms; long
 * phrases and prefixes of very many words take more, and are left to what reads the rows in steps.
 */
export const SEARCH_US = 10_000;

/**
 * Returns the rows that match, ascending, dead ones among them; undefined if finding them takes too
 * long. Throws `overloaded`.
 */
export function matchingRows(
  { core, block }: { readonly core: Core; readonly block: TextBlock },
  parts: readonly SearchPart[],
  nowUs: () => number,
): Uint32Array | undefined {
  const untilUs = nowUs() + SEARCH_US;
  const query = block.query(partsIn(block, parts));
  let found: RowBitmap | undefined;
  try {
    found = new RowBitmap(core, block.documents);
    if (finishBy(query.prepare(), nowUs, untilUs) === undefined) return undefined;
    return finishBy(query.match(found), nowUs, untilUs) === undefined ? undefined : found.list();
  } finally {
    found?.free();
    query.free();
  }
}

/** Returns the rows of a segment that are alive; undefined if all are. Throws `overloaded`. */
export function liveRows(resident: ResidentSegment, dead: DeadRows, lsn: number): RowBitmap | undefined {
  if (dead.count === 0) return undefined;
  const all = new RowBitmap(resident.core, resident.facts.rows);
  try {
    all.setRange(0, resident.facts.rows);
    all.drop(dead.rows.subarray(0, dead.count).filter((_, place) => dead.lsns[place]! <= lsn));
    return all;
  } catch (error) {
    all.free();
    throw error;
  }
}

/**
 * Returns how many documents of a set (default: all) have a term, or any term with a prefix;
 * undefined if that takes too long. Throws `overloaded`.
 */
export function countIn(
  block: TextBlock,
  text: string,
  isPrefix: boolean,
  allowed: RowBitmap | undefined,
  nowUs: () => number,
): number | undefined {
  if (isPrefix) return countPrefix(block, text, allowed, nowUs);
  const { term, documents } = block.word(text);
  return allowed === undefined || term === NO_TERM ? documents : block.documentsOf(term, allowed);
}

function countPrefix(
  block: TextBlock,
  prefix: string,
  allowed: RowBitmap | undefined,
  nowUs: () => number,
): number | undefined {
  const query = block.query([{ kind: 'prefix', role: TEXT_ROLE.should, ...block.prefix(Buffer.from(prefix)) }]);
  try {
    const isReady = finishBy(query.prepare(), nowUs, nowUs() + SEARCH_US) !== undefined;
    return isReady ? query.count(0, allowed) : undefined;
  } finally {
    query.free();
  }
}

/** Returns the parts of a search with the ordinals of their terms in a block. */
export function partsIn(block: TextBlock, parts: readonly SearchPart[]): TextPart[] {
  return parts.map((part) => partIn(block, part));
}

/** Returns a part of a search with the ordinals of its terms in a block. */
function partIn(block: TextBlock, { kind, terms, sign }: SearchPart): TextPart {
  const role = TEXT_ROLE[sign];
  const [first = ''] = terms;
  if (kind === 'word') return { kind, role, term: block.word(first).term };
  if (kind === 'prefix') return { kind, role, ...block.prefix(Buffer.from(first)) };
  return { kind, role, terms: terms.map((term) => block.word(term).term) };
}
