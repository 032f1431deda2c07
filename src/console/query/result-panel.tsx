// A result and the ways to look at it: rows, JSON, plan, graph; and as a file.

import { Failure } from '../failure.tsx';
import { type ComponentType, useEffect, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { session } from '../session.ts';
import { isMatch } from '../statement-words.ts';
import { copyToParquet, downloadResult, type FileFormat } from './download.ts';
import { PlanTree } from './plan-tree.tsx';
import { result as shownResult } from './query-state.ts';
import { ResultGrid } from './result-grid.tsx';
import { type PlanRow, planOf, type Result } from './run-statement.ts';

const TABS = [
  ['rows', 'Rows'],
  ['graph', 'Graph'],
  ['plan', 'Plan'],
  ['json', 'JSON'],
] as const;
type Tab = (typeof TABS)[number][0];

/** The drawing looks at so many rows of a result at most. */
const MOST_GRAPH_ROWS = 5000;

export function ResultPanel({ result }: { result: Result }) {
  const [tab, setTab] = useState<Tab>('rows');
  const [error, setError] = useState<unknown>(undefined);
  const isPlan = result.plan !== undefined;
  useEffect(() => {
    setError(undefined);
    if (isPlan) setTab('plan');
    else setTab((current) => (current === 'plan' && !isMatch(result.statement) ? 'rows' : current));
  }, [result.statement, isPlan]);
  const more = async () => {
    try {
      shownResult.value = await result.more();
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
              onClick={() => setTab(name)}
              onKeyDown={(event) => moveTab(event, tab, setTab)}
            >
              {title}
            </button>
          ))}
        </div>
        <Downloads result={result} onError={setError} />
      </div>
      <Failure error={error} />
      <div id="result-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'rows' && <ResultGrid result={result} onMore={more} />}
        {tab === 'json' && <JsonText result={result} />}
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

function JsonText({ result }: { result: Result }) {
  return (
    <Scrolling label="Rows as JSON">
      <pre class="json">
        {result.rows.map((row) => `${JSON.stringify(row)}\n`).join('')}
        {result.hasMore && '... more rows wait; go on under Rows, or download them all.'}
      </pre>
    </Scrolling>
  );
}

function PlanPanel({ result }: { result: Result }) {
  const [plan, setPlan] = useState<PlanRow | undefined>(result.plan);
  const [error, setError] = useState<unknown>(undefined);
  const { statement } = result;
  const canPlan = isMatch(statement);
  const explain = (isRun: boolean) => planOf(statement, isRun).then(setPlan, setError);
  useEffect(() => {
    setError(undefined);
    setPlan(result.plan);
    if (canPlan) void explain(false);
  }, [statement]);
  if (!canPlan && plan === undefined) {
    return <p class="quiet">Only reads have a plan. Run a MATCH, or put EXPLAIN in front of a statement.</p>;
  }
  return (
    <>
      <Failure error={error} />
      {plan !== undefined && <PlanTree row={plan} />}
      {canPlan && plan?.actual_rows === undefined && (
        <button type="button" onClick={() => explain(true)}>
          Run it and show what each step did
        </button>
      )}
    </>
  );
}

type GraphComponent = ComponentType<{ rows: Result['rows']; isCut: boolean }>;

function GraphPanel({ result, onMore }: { result: Result; onMore: () => Promise<void> }) {
  const [Graph, setGraph] = useState<{ View: GraphComponent } | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    import('../graph/graph-view.tsx').then((module) => setGraph({ View: module.GraphView }), setError);
  }, []);
  const wantsMore = result.hasMore && result.rows.length < MOST_GRAPH_ROWS;
  useEffect(() => {
    if (wantsMore) void onMore();
  }, [result]);
  if (error !== undefined) return <Failure error={error} />;
  if (Graph === undefined || wantsMore) return <p class="waiting">Drawing ...</p>;
  return <Graph.View rows={result.rows} isCut={result.hasMore} />;
}

function Downloads({ result, onError }: { result: Result; onError: (error: unknown) => void }) {
  const [note, setNote] = useState('');
  useEffect(() => setNote(''), [result.statement]);
  const attempt = (work: () => Promise<string>) => async () => {
    setNote('Writing ...');
    try {
      setNote(await work());
      onError(undefined);
    } catch (error) {
      setNote('');
      onError(error);
    }
  };
  const file = (format: FileFormat) =>
    attempt(async () => `${await downloadResult(result.statement, result.rows, format)} rows written`);
  const parquet = attempt(async () => {
    const name = `console-${Math.floor(Date.now() / 1000)}.parquet`;
    await copyToParquet(result.statement, name);
    return `Written on the server as ${name}`;
  });
  return (
    <div class="downloads">
      <span class="quiet" aria-live="polite">
        {note}
      </span>
      <button type="button" class="plain" onClick={file('ndjson')}>
        NDJSON
      </button>
      <button type="button" class="plain" onClick={file('csv')}>
        CSV
      </button>
      {isMatch(result.statement) && session.value !== undefined && (
        <button
          type="button"
          class="plain"
          title="Written by the server below HEDGEROW_COPY_ROOT (COPY ... TO); needs an admin key."
          onClick={parquet}
        >
          Parquet on the server
        </button>
      )}
    </div>
  );
}
