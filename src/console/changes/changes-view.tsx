// The view that shows what changes in the database as it happens, the newest first.

import { EdgeTag } from '../edge-tag.tsx';
import { Empty, Failure } from '../failure.tsx';
import { countText, numberText, timeText } from '../format.ts';
import { useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { tables } from '../state.ts';
import '../style/views.css';
import type { ChangeRow, Commit } from './change-feed.ts';
import type { FollowState } from './follow-changes.ts';
import { type Live, useChanges } from './use-changes.ts';

/** The state in words. Of final states: what the error, which has the reason, means here. */
const STATES: Readonly<Record<FollowState['kind'], string>> = {
  connecting: 'Connecting ...',
  live: 'Live',
  lost: 'Connection lost; trying again.',
  gone: 'Changes are missing',
  other: 'The database has another history',
  refused: 'Changes cannot be followed',
};

export function ChangesView() {
  const [table, setTable] = useState('');
  const live = useChanges(table);
  const { commits, state, rate, reported, isPaused, missed, setPaused } = live;
  const names = tables.value.map(({ name }) => name);
  return (
    <div class="view">
      <div class="bar">
        <label>
          Changes of{' '}
          <select value={table} onChange={({ currentTarget: { value } }) => setTable(value)}>
            <option value="">all tables</option>
            {/* A table that was dropped remains chosen until another one is. */}
            {(table === '' || names.includes(table) ? names : [table, ...names]).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
        <span role="status">
          {state.error === undefined && (isPaused && state.kind === 'live' ? 'Paused' : STATES[state.kind])}
        </span>
        <span class="quiet">{numberText(Math.round(rate))} changes/s</span>
        {isPaused && <span class="quiet">{countText(missed, 'change')} since the pause</span>}
        <span class="sr-only" aria-live="polite">
          {reported > 0 && `${countText(reported, 'change')} in 10 seconds`}
        </span>
      </div>
      <Stopped {...live} />
      {commits.length === 0 ? (
        <Empty title="No changes yet">They appear here as they are committed.</Empty>
      ) : (
        <Commits commits={commits} />
      )}
    </div>
  );
}

/** Tells why no more changes arrive, and offers to go on. */
function Stopped({ state: { kind, error }, tryAgain, startAtNewest }: Live) {
  if (error === undefined) return null;
  return (
    <>
      <Failure error={error} title={STATES[kind]} />
      <div class="bar">
        {kind === 'refused' ? (
          <button type="button" onClick={tryAgain}>
            Try again
          </button>
        ) : (
          <button type="button" onClick={startAtNewest}>
            Start at the newest LSN
          </button>
        )}
      </div>
    </>
  );
}

function Commits({ commits }: { commits: readonly Commit[] }) {
  return (
    <Scrolling label="Newest changes" height="whole">
      <table class="grid changes">
        <thead>
          <tr>
            <th scope="col">Commit (UTC)</th>
            <th scope="col">Table</th>
            <th scope="col">Operation</th>
            <th scope="col">Edge</th>
            <th scope="col">What changed</th>
          </tr>
        </thead>
        {commits.map((commit) => (
          <tbody key={commit.lsn}>
            {commit.rows.map((row, at) => (
              <tr key={row.lsn}>
                {at === 0 && <CommitCell {...commit} />}
                <ChangeCells {...row} />
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Scrolling>
  );
}

function CommitCell({ ts, count, isWhole, rows }: Commit) {
  const isAlone = count === 1 && isWhole;
  return (
    <td class="number" rowSpan={rows.length}>
      {timeText(ts)}
      {!isAlone && (
        <div class="quiet">
          {countText(count, 'change')}
          {!isWhole && ' so far'}
        </div>
      )}
    </td>
  );
}

function ChangeCells({ lsn, table, op, id, fields, summary }: ChangeRow) {
  return (
    <>
      <td>{table}</td>
      <td title={`LSN ${lsn}`}>
        <span class={`op-${op}`}>{op.replaceAll('_', ' ')}</span>
      </td>
      <td>
        {id !== undefined &&
          (op === 'delete' ? <span class="tag">HEDGE-{id}</span> : <EdgeTag table={table} id={id} />)}
      </td>
      <td>
        {summary}
        {fields.map(({ name, before, after }) => (
          <div key={name}>
            <span class="quiet">{name}</span> {before} → {after}
          </div>
        ))}
      </td>
    </>
  );
}
