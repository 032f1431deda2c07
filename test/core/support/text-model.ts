// A naive model of text blocks: documents as lists of words, searched and scored one by one.

import {
  type Core,
  NO_TERM,
  TEXT_ROLE,
  type TextBlock,
  type TextInput,
  type TextRole,
} from '../../../src/core/index.ts';
import type { Random } from './random.ts';

/** Words in their order; null is a position without a word. */
export type Document = readonly (string | null)[];

/** A part of a query in words. */
export type Part =
  | { readonly kind: 'word'; readonly role: TextRole; readonly word: string }
  | { readonly kind: 'prefix'; readonly role: TextRole; readonly word: string }
  | { readonly kind: 'phrase'; readonly role: TextRole; readonly words: readonly string[] };

const encoder = new TextEncoder();
export const utf8 = (text: string) => encoder.encode(text);

export function termsOf(documents: readonly Document[]): string[] {
  const words = new Set(documents.flat().filter((word) => word !== null));
  return [...words].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

export function inputOf(documents: readonly Document[], tag = 7): TextInput {
  const terms = termsOf(documents);
  const ordinals = new Map(terms.map((term, ordinal) => [term, ordinal]));
  const offsets = new Uint32Array(documents.length + 1);
  documents.forEach((document, row) => {
    offsets[row + 1] = offsets[row]! + document.length;
  });
  const stream = new Uint32Array(offsets[documents.length]!);
  let at = 0;
  for (const document of documents) {
    for (const word of document) stream[at++] = word === null ? NO_TERM : ordinals.get(word)!;
  }
  const texts = terms.map((term) => Buffer.from(term));
  const termOffsets = new Uint32Array(terms.length + 1);
  texts.forEach((text, i) => {
    termOffsets[i + 1] = termOffsets[i]! + text.length;
  });
  return { offsets, stream, termOffsets, termBytes: Buffer.concat(texts), tag };
}

const lengthOf = (document: Document) => document.filter((word) => word !== null).length;

/** Returns how often a part occurs in a document. */
export function frequencyOf(document: Document, part: Part): number {
  if (part.kind === 'word') return document.filter((word) => word === part.word).length;
  if (part.kind === 'prefix') return document.filter((word) => word?.startsWith(part.word)).length;
  const { words } = part;
  return document.filter((_, start) => words.every((word, i) => document[start + i] === word)).length;
}

export function matches(document: Document, parts: readonly Part[]): boolean {
  const has = parts.map((part) => frequencyOf(document, part) > 0);
  const of = (role: TextRole) => has.filter((_, i) => parts[i]!.role === role);
  if (of(TEXT_ROLE.not).includes(true)) return false;
  const must = of(TEXT_ROLE.must);
  return must.length > 0 ? !must.includes(false) : of(TEXT_ROLE.should).includes(true);
}

/** Returns the BM25 score of a document by the formula, with its operations in their order. */
export function scoreOf(
  document: Document,
  parts: readonly Part[],
  weights: ArrayLike<number>,
  average: number,
): number {
  const k1 = 1.2;
  const b = 0.75;
  const dl = lengthOf(document);
  let score = 0;
  parts.forEach((part, i) => {
    const tf = frequencyOf(document, part);
    if (tf === 0 || part.role === TEXT_ROLE.not) return;
    score += (weights[i]! * (tf * (k1 + 1))) / (tf + k1 * (1 - b + (b * dl) / average));
  });
  return score;
}

export interface Scored {
  readonly row: number;
  readonly score: number;
}

/** Returns all rows that match and are allowed, best first. */
export function ranked(
  documents: readonly Document[],
  parts: readonly Part[],
  weights: ArrayLike<number>,
  average: number,
  isAllowed: (row: number) => boolean,
): Scored[] {
  return documents
    .flatMap((document, row) =>
      isAllowed(row) && matches(document, parts) ? [{ row, score: scoreOf(document, parts, weights, average) }] : [],
    )
    .sort((a, b) => b.score - a.score || a.row - b.row);
}

/** Makes the same query over the block. */
export function queryOf(block: TextBlock, parts: readonly Part[]) {
  return block.query(
    parts.map((part) => {
      if (part.kind === 'word') return { kind: 'word', role: part.role, term: block.find(utf8(part.word)) };
      if (part.kind === 'prefix') return { kind: 'prefix', role: part.role, ...block.prefix(utf8(part.word)) };
      return { kind: 'phrase', role: part.role, terms: part.words.map((word) => block.find(utf8(word))) };
    }),
  );
}

/** Words that share beginnings; low numbers are frequent. */
export function wordOf(rank: number): string {
  return `${'aäbz€'[rank % 5]}${'xyz'.slice(0, rank % 4)}${rank.toString(36)}`;
}

/** Returns a rank below `limit`; small ranks are more frequent (about 1 / rank). */
export function zipf(random: Random, limit: number): number {
  return Math.min(limit - 1, Math.floor(limit ** random.unit()) - 1);
}

export function randomDocuments(random: Random, count: number, vocabulary: number, mostWords: number): Document[] {
  return Array.from({ length: count }, () =>
    Array.from({ length: random.below(mostWords + 1) }, () =>
      random.below(12) === 0 ? null : wordOf(zipf(random, vocabulary)),
    ),
  );
}

export function randomPart(random: Random, vocabulary: number, documents: readonly Document[]): Part {
  const role = ([0, 0, 0, 1, 2] as const)[random.below(5)]!;
  const word = wordOf(zipf(random, vocabulary + 3));
  const kind = random.below(4);
  if (kind === 0) return { kind: 'prefix', role, word: word.slice(0, 1 + random.below(3)) };
  if (kind > 1) return { kind: 'word', role, word };
  const document = documents[random.below(documents.length)] ?? [];
  const start = random.below(document.length + 1);
  const words = document.slice(start, start + 1 + random.below(3)).filter((found) => found !== null);
  return { kind: 'phrase', role, words: words.length > 0 ? words : [word, word] };
}

/** Returns how many bytes of regions the instance has not freed. */
export const usedBytes = (core: Core) => core.exports.hg_memory_used() >>> 0;

/** Address below which all regions end (assembly/memory/alloc.ts). */
const LAST_ADDRESS = 0xffff0000;

/** Allocates all memory but about `left` bytes at its end. */
export function leave(core: Core, left: number): void {
  const { exports } = core;
  let top = (exports.hg_memory_alloc(1) >>> 0) + 64;
  for (let bytes = 0xe0000000; bytes >= 64; bytes = Math.floor(bytes / 2)) {
    // A region is at most an eighth larger than asked for.
    while (top + bytes * 1.125 + 64 < LAST_ADDRESS - left) {
      const at = exports.hg_memory_alloc(bytes) >>> 0;
      if (at === 0) break;
      top = at + Math.ceil(bytes * 1.125) + 64;
    }
  }
}
