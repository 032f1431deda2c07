// Estimates how many rows a search finds, from the numbers of documents that text blocks keep for
// each term. Reads no posting lists.

import type { CoreMemtable, TextBlock } from '../../core/index.ts';
import type { SearchPart } from '../../text/index.ts';
import type { ScanSource } from '../scan/scan-view.ts';
import type { SearchCondition } from '../types.ts';
import { tagOf } from './text-tag.ts';

/** Terms of a prefix that are looked up; one with more is assumed to be in every document. */
const MOST_TERMS = 64;

/**
 * Returns an upper bound of the documents of a block that match: of the part that must occur and
 * occurs in the fewest, or of all parts that should together; dead documents are counted. Throws
 * `overloaded`.
 */
export function wordsBound(block: TextBlock, parts: readonly SearchPart[]): number {
  const must = parts.filter(({ sign }) => sign === 'must').map((part) => partBound(block, part));
  if (must.length > 0) return Math.min(...must);
  const should = parts.filter(({ sign }) => sign === 'should');
  return Math.min(
    block.documents,
    should.reduce((sum, part) => sum + partBound(block, part), 0),
  );
}

function partBound(block: TextBlock, { kind, terms }: SearchPart): number {
  if (kind !== 'prefix') return Math.min(...terms.map((term) => block.word(term).documents));
  const { first, count } = block.prefix(Buffer.from(terms[0]!));
  if (count > MOST_TERMS) return block.documents;
  let documents = 0;
  for (let term = first; term < first + count; term++) documents += block.documentsOf(term);
  return Math.min(block.documents, documents);
}

/** Returns the greatest share of a memtable's rows that can match; undefined without blocks. */
export function shareInMemory(source: ScanSource, memtable: CoreMemtable, search: SearchCondition): number | undefined {
  const pieces = source.context.texts.known(memtable, tagOf(search));
  if (pieces === undefined || pieces.covered === 0) return undefined;
  let matching = 0;
  for (let piece = pieces.at(0); piece !== undefined; piece = pieces.at(piece.to))
    matching += wordsBound(piece.block, search.parts);
  return matching / pieces.covered;
}
