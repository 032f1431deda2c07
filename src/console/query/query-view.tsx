// Statements: the editor, what came of running it, and the ways to look at that.

import { HedgerowApiError } from '../../client/index.ts';
import { EditorFrame } from '../editor/editor-frame.tsx';
import { Failure } from '../failure.tsx';
import { secondsText } from '../format.ts';
import { useEffect, useRef, useState } from '../preact.ts';
import { dataChanged, revision, tableName, timeWindow, wantedStatement } from '../state.ts';
import { isMatch } from '../statement-words.ts';
import { holdToWindow, ranAt, result, statement, writeFirstStatement } from './query-state.ts';
import { ResultPanel } from './result-panel.tsx';
import { runStatement } from './run-statement.ts';
import { pastStatements, rememberStatement } from './statement-history.ts';

/** A fault that the server has placed in the statement. */
interface Fault {
  readonly line: number;
  readonly column: number;
}

export function QueryView() {
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const running = useRef(0);
  const run = async (text = statement.value) => {
    if (text.trim() === '') return;
    const number = ++running.current;
    setBusy(true);
    try {
      const found = await runStatement(text);
      if (number !== running.current) return found.close();
      result.value?.close();
      result.value = found;
      setError(undefined);
      ranAt.value = revision.value;
      if (!isMatch(text) && found.plan === undefined) await dataChanged();
    } catch (failed) {
      if (number === running.current) setError(failed);
    } finally {
      if (number === running.current) setBusy(false);
      setPast(rememberStatement(text));
    }
  };
  const [past, setPast] = useState(pastStatements());
  useStatementSources(run);
  const fault = useFault(error);
  return (
    <div class="view">
      <section class="panel editor-panel" aria-label="Statement">
        <EditorFrame
          text={statement}
          fault={fault}
          onChange={(text) => {
            statement.value = text;
          }}
          onRun={run}
          recall={useRecall(past)}
        />
        <div class="bar">
          <button type="button" class="primary" disabled={isBusy} onClick={() => run()}>
            {isBusy ? 'Running ...' : 'Run'}
          </button>
          <PastStatements past={past} />
          <span class="quiet keys">Ctrl Enter runs, Alt Up recalls</span>
          {result.value !== undefined && <span class="quiet took">{secondsText(result.value.elapsedMs / 1000)}</span>}
        </div>
      </section>
      <Failure error={error} title="The statement was not run" />
      {result.value !== undefined && error === undefined && <ResultPanel result={result.value} />}
    </div>
  );
}

/** The table, the brush and other views change the statement; a changed one is run, and so is one whose data has changed meanwhile. */
function useStatementSources(run: (text?: string) => Promise<void>): void {
  const table = tableName.value;
  const window = timeWindow.value;
  const wanted = wantedStatement.value;
  const last = useRef({ window: undefined as typeof window | 'none yet' });
  useEffect(() => {
    const isFirst = last.current.window === undefined;
    const hasMoved = !isFirst && last.current.window !== (window ?? 'none yet');
    last.current = { window: window ?? 'none yet' };
    if (wanted !== undefined) {
      holdToWindow(wanted);
      wantedStatement.value = undefined;
      void run();
    } else if (writeFirstStatement(table)) {
      void run();
    } else if (isMatch(statement.value) && (hasMoved || (isFirst && revision.value !== ranAt.value))) {
      holdToWindow();
      void run();
    }
  }, [table, window, wanted]);
}

/** The place of a fault, as one value for as long as the error stands. */
function useFault(error: unknown): Fault | undefined {
  const last = useRef<{ error: unknown; fault: Fault | undefined }>({ error: undefined, fault: undefined });
  if (last.current.error !== error) {
    const isPlaced = error instanceof HedgerowApiError && error.line !== undefined && error.column !== undefined;
    last.current = { error, fault: isPlaced ? { line: error.line!, column: error.column! } : undefined };
  }
  return last.current.fault;
}

/** Steps through the history; the statement being written waits at its end. */
function useRecall(past: readonly string[]): (step: -1 | 1) => string | undefined {
  const place = useRef({ at: past.length, draft: '' });
  const shown = useRef(past);
  if (shown.current !== past) {
    shown.current = past;
    place.current = { at: past.length, draft: '' };
  }
  return (step) => {
    const { at, draft } = place.current;
    const next = at + step;
    if (next < 0 || next > past.length) return undefined;
    place.current = { at: next, draft: at === past.length ? statement.value : draft };
    return next === past.length ? place.current.draft : past[next];
  };
}

function PastStatements({ past }: { past: readonly string[] }) {
  return (
    <label class="past">
      <span class="sr-only">Earlier statements</span>
      <select
        value=""
        disabled={past.length === 0}
        onChange={(event) => {
          statement.value = past[Number(event.currentTarget.value)] ?? statement.value;
          event.currentTarget.value = '';
        }}
      >
        <option value="">History</option>
        {past.map((text, at) => (
          <option key={text} value={at}>
            {text.replace(/\s+/g, ' ').slice(0, 80)}
          </option>
        ))}
      </select>
    </label>
  );
}
