// Finds the rows that match a search within OR or NOT, or of a score, by the text index instead of
// their texts, once many texts have been read for it. So a statement that ends early, or reads few
// rows, does not search an index of many.
//
// The ids are those of all rows of the table that match, not only of one path: rows that were read
// before, or are read through other paths, are evaluated later. Both are of one snapshot.

import { buildColumnPlan, readColumnBlocks } from '../../../core/index.ts';
import { HedgerowError } from '../../../errors.ts';
import type { QueryContext } from '../context.ts';
import type { RunSearch } from '../values/searches.ts';
import { NumberTable } from './number-table.ts';
import type { Batch } from './row-set.ts';

const IDS = buildColumnPlan({ times: false, ids: true, sizes: false, members: false, masks: false, columns: [] });

/**
 * Finds the rows that match searches for which many texts were read. Of rows that are too much work
 * because of their searches, finds those that match any of them. To be called before rows are
 * evaluated, in steps of a few milliseconds.
 */
export function* findMatched(context: QueryContext, batch?: Batch): Generator<null, void, void> {
  const { searches, parameters } = context.environment;
  if (searches === undefined) return;
  const isTooMuch = batch !== undefined && context.isTooMuch(batch);
  if (isTooMuch) for (const node of context.searches) searches.of(node, parameters);
  else if (!searches.hasRead(context.readLetters)) return;
  for (const search of searches.read(isTooMuch ? 0 : context.readLetters)) {
    // Blocks over rows in memory may have to be built first, which reads these texts.
    if (!isTooMuch && search.letters < context.source.bytesWithoutBlock(context.patterns[search.pattern]!)) continue;
    search.matched = yield* idsOf(search, context);
    search.isGivenUp = search.matched === undefined;
    context.searchesChanged();
  }
}

/** Returns the ids of the rows that match a search; undefined if there is no memory for them. */
function* idsOf(
  { pattern, condition }: RunSearch,
  context: QueryContext,
): Generator<null, NumberTable | undefined, void> {
  const ids = new NumberTable();
  let charged = 0;
  const scan = context.source.scan(context.patterns[pattern]!, { search: condition }, IDS);
  try {
    for (let bytes = scan.next(); bytes !== null; bytes = scan.next()) {
      for (const block of readColumnBlocks(bytes, IDS)) for (const id of block.ids) ids.placeOf(id);
      if (ids.bytes > charged) {
        context.charge(ids.bytes - charged);
        charged = ids.bytes;
      }
      yield null;
    }
    return ids;
  } catch (error) {
    context.charge(-charged);
    if (error instanceof HedgerowError && (error.code === 'query_too_large' || error.code === 'overloaded'))
      return undefined;
    throw error;
  } finally {
    scan.close();
  }
}
