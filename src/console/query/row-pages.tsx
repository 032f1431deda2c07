// Shows the rows of a result page by page; the children decide how a page is drawn.

import type { QueryRow } from '../../client/index.ts';
import { Empty } from '../failure.tsx';
import { countText } from '../format.ts';
import { type ComponentChildren, useState } from '../preact.ts';
import { table, tableName } from '../state.ts';
import { isMatch } from '../statement-words.ts';
import { PAGE_ROWS, type Result, reachedLimit } from './run-statement.ts';

interface Props {
  readonly result: Result;
  readonly onMore: () => Promise<void>;
  /** `first` is the index of the first of these rows in the whole result. */
  readonly children: (rows: readonly QueryRow[], first: number) => ComponentChildren;
}

export function RowPages({ result, onMore, children }: Props) {
  const [wanted, setWanted] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const { rows, hasMore, isCut } = result;
  if (rows.length === 0) return <NoRows result={result} />;
  // The wanted page may not exist, if fetching it has failed.
  const page = Math.min(wanted, Math.ceil(rows.length / PAGE_ROWS) - 1);
  const first = page * PAGE_ROWS;
  const shown = rows.slice(first, first + PAGE_ROWS);
  const limit = reachedLimit(result);
  const isLast = first + PAGE_ROWS >= rows.length;
  const next = async () => {
    if (isLast) {
      setBusy(true);
      await onMore();
      setBusy(false);
    }
    setWanted(page + 1);
  };
  return (
    <>
      {children(shown, first)}
      <div class="pager">
        <span class="quiet" aria-live="polite">
          Rows {first + 1} to {first + shown.length} of{' '}
          {hasMore ? `${rows.length} fetched so far` : countText(rows.length, 'row')}
          {isCut && '; there are more: run the statement by itself, or with LIMIT and SKIP, to see them'}
          {limit !== undefined && `, the first that were found; the statement has LIMIT ${limit}`}
        </span>
        <button type="button" disabled={page === 0} onClick={() => setWanted(0)}>
          First
        </button>
        <button type="button" disabled={page === 0} onClick={() => setWanted(page - 1)}>
          Back
        </button>
        <button type="button" disabled={isBusy || (isLast && !hasMore)} onClick={next}>
          Next {PAGE_ROWS}
        </button>
      </div>
    </>
  );
}

function NoRows({ result }: { result: Result }) {
  if (!isMatch(result.statement)) return <Empty title="Done">The statement has no rows to show.</Empty>;
  return table.value?.row_count === 0 ? (
    <Empty title="Nothing to find yet">
      {tableName.value} holds no edges. <a href="#import">Import a file</a>, or write INSERT INTO.
    </Empty>
  ) : (
    <Empty title="No rows">Widen the window of time, or loosen the conditions after WHERE.</Empty>
  );
}
