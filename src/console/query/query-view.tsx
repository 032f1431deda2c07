// The view for statements: the editor, and the results of what was run.

import { HedgerowApiError } from '../../client/index.ts';
import { Boundary } from '../boundary.tsx';
import { EditorFrame } from '../editor/editor-frame.tsx';
import { Failure } from '../failure.tsx';
import { secondsText } from '../format.ts';
import { lazy } from '../lazy.tsx';
import { useEffect, useRef } from '../preact.ts';
import { revision, tableName, timeWindow, wantedStatement } from '../state.ts';
import { parametersOf } from '../statement-words.ts';
import {
  asked,
  asksChosenTable,
  failed,
  followStatement,
  holdToWindow,
  ranAt,
  result,
  results,
  running,
  statement,
  takeRestored,
  windowHasMoved,
  writeFirstStatement,
} from './query-state.ts';
import { ResultPanel } from './result-panel.tsx';
import { run, Stopped, stop } from './run.ts';
import { onlyReads } from './script.ts';
import { pastStatements } from './statement-history.ts';
import { transaction } from './transaction.ts';

const ResultList = lazy(() => import('./result-list.tsx').then((module) => module.ResultList));
const LossQuestion = lazy(() => import('./loss-question.tsx').then((module) => module.LossQuestion));
const ParameterInputs = lazy(() => import('./parameter-inputs.tsx').then((module) => module.ParameterInputs), '');
const TransactionNote = lazy(() => import('./transaction-note.tsx').then((module) => module.TransactionNote));

/** The position in the statement of an error that the server has reported. */
interface Fault {
  readonly line: number;
  readonly column: number;
}

export function QueryView() {
  const isBusy = running.value !== undefined;
  const past = pastStatements.value;
  useStatementSources();
  return (
    <div class="view">
      <section class="panel editor-panel" aria-label="Statement">
        <EditorFrame
          text={statement}
          fault={useFault(failed.value?.error)}
          onChange={(text) => {
            statement.value = text;
          }}
          onRun={() => void run()}
          recall={useRecall(past)}
        />
        {parametersOf(statement.value).length > 0 && <ParameterInputs onRun={() => void run()} />}
        <div class="bar">
          <button type="button" class="primary run" disabled={isBusy} onClick={() => run()}>
            {runningText()}
          </button>
          <button type="button" disabled={!isBusy} onClick={stop}>
            Stop
          </button>
          <PastStatements past={past} />
          <span class="quiet keys">Ctrl Enter runs, Alt Up recalls</span>
          <span class="quiet took">{result.value !== undefined && secondsText(result.value.elapsedMs / 1000)}</span>
        </div>
      </section>
      {asked.value !== undefined && <LossQuestion />}
      {transaction.value !== undefined && <TransactionNote />}
      <WhyNot />
      {results.value.length > 1 && <ResultList />}
      {result.value !== undefined && (
        <Boundary of={result.value.startedAt}>
          <ResultPanel result={result.value} />
        </Boundary>
      )}
    </div>
  );
}

function runningText(): string {
  if (running.value === undefined) return 'Run';
  const { at, count } = running.value;
  return count === 1 ? 'Running ...' : `Running ${at} of ${count} ...`;
}

/** Shows why the statement, or one of several, was not run to its end. */
function WhyNot() {
  if (failed.value === undefined) return null;
  const { error, at, count, hasWritten } = failed.value;
  const which = count === 1 ? 'The statement' : `Statement ${at} of ${count}`;
  if (error instanceof Stopped)
    return (
      <p class="note note-stopped" role="status">
        {which} was stopped.{hasWritten && ' What had been written by then stays written.'}
      </p>
    );
  return <Failure error={error} title={`${which} was not run`} />;
}

/**
 * Changes the statement when another table or window is chosen, or when another view has written a
 * statement. Runs a changed statement, and one whose data has changed meanwhile. Statements that
 * write are run only by the user.
 */
function useStatementSources(): void {
  const table = tableName.value;
  const window = timeWindow.value;
  const wanted = wantedStatement.value;
  const isFirst = useRef(true);
  useEffect(() => {
    const isStale = isFirst.current && revision.value !== ranAt.value;
    isFirst.current = false;
    const restored = table === '' ? undefined : takeRestored();
    const hasMoved = windowHasMoved();
    if (wanted !== undefined) {
      holdToWindow(wanted);
      wantedStatement.value = undefined;
      // The statement may come from a link. If it writes, the user must read it and run it.
      if (onlyReads(wanted)) void run();
    } else if (restored !== undefined) {
      followStatement(statement.value);
      if (restored === 'was run' && onlyReads(statement.value)) void run();
    } else if (writeFirstStatement(table)) {
      void run();
    } else if (onlyReads(statement.value)) {
      // A window of the chosen table does not apply to a statement that reads another table.
      const isChanged = hasMoved && asksChosenTable() && holdToWindow();
      if (isChanged || (isStale && running.value === undefined)) void run();
    }
  }, [table, window, wanted]);
}

/** Returns the position of an error; the same object as long as the error is the same. */
function useFault(error: unknown): Fault | undefined {
  const last = useRef<{ error: unknown; fault: Fault | undefined }>({ error: undefined, fault: undefined });
  if (last.current.error !== error) {
    const isPlaced = error instanceof HedgerowApiError && error.line !== undefined && error.column !== undefined;
    last.current = { error, fault: isPlaced ? { line: error.line!, column: error.column! } : undefined };
  }
  return last.current.fault;
}

/** Returns a function that steps through the history, which ends with the unfinished statement. */
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
        {past
          .map((text, at) => (
            <option key={text} value={at}>
              {text.replace(/\s+/g, ' ').slice(0, 80)}
            </option>
          ))
          .reverse()}
      </select>
    </label>
  );
}
