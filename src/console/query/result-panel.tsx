// Shows a result as rows, graph, plan or JSON, and offers it as a file.

import { Failure } from '../failure.tsx';
import { given } from '../given.ts';
import { lazy } from '../lazy.tsx';
import { useEffect, useRef, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { tableName } from '../state.ts';
import { isMatch, patternsOf } from '../statement-words.ts';
import { Downloads } from './downloads.tsx';
import { putResult } from './query-state.ts';
import { Grid, NamesNote } from './result-grid.tsx';
import { RowPages } from './row-pages.tsx';
import { type Result, reachedLimit } from './run-statement.ts';

const PlanPanel = lazy(() => import('./plan-panel.tsx').then((module) => module.PlanPanel));
const GraphView = lazy(() => import('../graph/graph-view.tsx').then((module) => module.GraphView), 'Drawing ...');

const TABS = [
  ['rows', 'Rows'],
  ['graph', 'Graph'],
  ['plan', 'Plan'],
  ['json', 'JSON'],
] as const;
type Tab = (typeof TABS)[number][0];

/** Maximum number of rows of a result that are fetched for the graph. */
const MOST_GRAPH_ROWS = 5000;

export function ResultPanel({ result }: { result: Result }) {
  const [tab, setTab] = useState<Tab>(result.statement === given.statement ? given.tab : 'rows');
  const [error, setError] = useState<unknown>(undefined);
  /** The tab shown before an EXPLAIN opened the plan; undefined once the user chooses a tab. */
  const before = useRef<Tab | undefined>(undefined);
  const choose = (chosen: Tab) => {
    before.current = undefined;
    setTab(chosen);
  };
  useEffect(() => {
    setError(undefined);
    if (result.plan !== undefined) {
      before.current ??= tab === 'plan' ? 'rows' : tab;
      setTab('plan');
    } else if (before.current !== undefined) choose(before.current);
    else if (tab === 'plan' && !isMatch(result.statement)) choose('rows');
  }, [result.startedAt]);
  const more = async () => {
    try {
      putResult(await result.more());
    } catch (failed) {
      setError(failed);
    }
  };
  return (
    <section class="panel" aria-label="Result">
      <div class="bar">
        <div role="tablist" aria-label="Ways to look at the result" class="tabs">
          {TABS.map(([name, title]) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={tab === name}
              aria-controls="result-body"
              tabIndex={tab === name ? 0 : -1}
              onClick={() => choose(name)}
              onKeyDown={(event) => moveTab(event, tab, choose)}
            >
              {title}
            </button>
          ))}
        </div>
        <Downloads result={result} onError={setError} />
      </div>
      <Failure error={error} />
      <div id="result-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {(tab === 'rows' || tab === 'json') && (
          <RowPages key={result.startedAt} result={result} onMore={more}>
            {(rows, first) => (
              <Scrolling label={tab === 'rows' ? 'Rows' : 'Rows as JSON'}>
                {tab === 'rows' ? (
                  <Grid result={result} rows={rows} first={first} />
                ) : (
                  <pre class="json">{rows.map((row) => `${JSON.stringify(row)}\n`).join('')}</pre>
                )}
              </Scrolling>
            )}
          </RowPages>
        )}
        {tab === 'rows' && <NamesNote result={result} />}
        {tab === 'plan' && <PlanPanel result={result} />}
        {tab === 'graph' && <GraphPanel result={result} onMore={more} />}
      </div>
    </section>
  );
}

function moveTab(event: KeyboardEvent, tab: Tab, setTab: (tab: Tab) => void): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return;
  const at = TABS.findIndex(([name]) => name === tab);
  const [next] = TABS[(at + step + TABS.length) % TABS.length]!;
  setTab(next);
  document.getElementById(`tab-${next}`)?.focus();
}

function GraphPanel({ result, onMore }: { result: Result; onMore: () => Promise<void> }) {
  const wantsMore = result.hasMore && result.rows.length < MOST_GRAPH_ROWS;
  /** Stays until all rows of the next result are there. */
  const drawn = useRef<Result | undefined>(undefined);
  useEffect(() => {
    if (wantsMore) void onMore();
  }, [result]);
  if (!wantsMore) drawn.current = result;
  if (drawn.current === undefined) return <p class="waiting">Drawing ...</p>;
  const { rows, statement, hasMore, isCut } = drawn.current;
  return (
    <GraphView
      rows={rows}
      statement={statement}
      isCut={hasMore || isCut}
      limit={reachedLimit(drawn.current)}
      // The edges are of the statement's first table, which need not be the one chosen at the left.
      table={patternsOf(statement)[0]?.table ?? tableName.value}
    />
  );
}
