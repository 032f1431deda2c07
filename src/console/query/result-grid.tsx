// Rows of a result as a table, a page at a time.

import type { QueryRow } from '../../client/index.ts';
import { Empty } from '../failure.tsx';
import { cellText, countText, timeText } from '../format.ts';
import { useEffect, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { table, tableName } from '../state.ts';
import { PAGE_ROWS, type Result } from './run-statement.ts';

interface Props {
  readonly result: Result;
  readonly onMore: () => Promise<void>;
}

export function ResultGrid({ result, onMore }: Props) {
  const [page, setPage] = useState(0);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => setPage(0), [result.statement, result.elapsedMs]);
  if (result.rows.length === 0) {
    return table.value?.row_count === 0 ? (
      <Empty title="Nothing to find yet">
        {tableName.value} holds no edges. <a href="#import">Import a file</a>, or write INSERT INTO.
      </Empty>
    ) : (
      <Empty title="No rows">Widen the window of time, or loosen the conditions after WHERE.</Empty>
    );
  }
  const first = page * PAGE_ROWS;
  const rows = result.rows.slice(first, first + PAGE_ROWS);
  const isLast = first + PAGE_ROWS >= result.rows.length;
  const next = async () => {
    if (isLast) {
      setBusy(true);
      await onMore();
      setBusy(false);
    }
    setPage(page + 1);
  };
  return (
    <>
      <Scrolling label="Rows">
        <Grid columns={result.columns} rows={rows} />
      </Scrolling>
      <div class="pager">
        <span class="quiet" aria-live="polite">
          Rows {first + 1} to {first + rows.length} of{' '}
          {result.hasMore ? `${result.rows.length} fetched so far` : countText(result.rows.length, 'row')}
        </span>
        <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
          Back
        </button>
        <button type="button" disabled={isBusy || (isLast && !result.hasMore)} onClick={next}>
          Next {PAGE_ROWS}
        </button>
      </div>
    </>
  );
}

export function Grid({ columns, rows }: { columns: readonly string[]; rows: readonly QueryRow[] }) {
  return (
    <table class="grid">
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {columns.map((name) => (
              <Cell key={name} name={name} value={row[name]} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({ name, value }: { name: string; value: unknown }) {
  const isNumber = typeof value === 'number';
  const isTime = isNumber && /(^|\.)event_ts$/.test(name);
  return (
    <td
      class={isNumber ? 'number' : value === null ? 'quiet' : undefined}
      title={isTime ? `${timeText(value)} UTC` : undefined}
    >
      {cellText(value)}
    </td>
  );
}
