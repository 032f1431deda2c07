// Lists the rows that an import leaves out, and what it has written.

import { countText } from '../format.ts';
import type { CourseState } from './import-course.ts';
import type { Reject } from './read-file.ts';
import { saveRejects } from './save-rejects.ts';
import type { Job, Progress } from './write-parts.ts';

const MOST_LISTED = 20;

export function Rejected({ rejected, name }: { rejected: readonly Reject[]; name: string }) {
  if (rejected.length === 0) return null;
  return (
    <details class="note note-bad">
      <summary>{countText(rejected.length, 'row')} will be left out</summary>
      <ul>
        {rejected.slice(0, MOST_LISTED).map(({ row, reason }) => (
          <li key={row}>
            Row {row} {reason}.
          </li>
        ))}
      </ul>
      {rejected.length > MOST_LISTED && <p>and {countText(rejected.length - MOST_LISTED, 'more', 'more')}</p>}
      <button type="button" onClick={() => saveRejects(name, rejected)}>
        Save them as a file
      </button>
    </details>
  );
}

interface WrittenProps {
  readonly progress: Progress | undefined;
  readonly job: Job;
  readonly state: CourseState;
  /** Name of the file. */
  readonly name: string;
  /** Shows what was written. */
  readonly onShow: () => void;
}

export function Written({ progress, job, state, name, onShow }: WrittenProps) {
  if (progress === undefined || (state === 'stopped' && progress.written === 0)) return null;
  const { written, refused } = progress;
  const total = job.rows.length;
  const rejects = refused.map(({ row, reason }, at) => ({
    row: at + 1,
    reason: `was refused: ${reason}`,
    source: row,
  }));
  return (
    <div class={state === 'stopped' ? 'note note-bad' : 'note note-good'} role="status">
      {state === 'writing' && <progress max={total} value={written} aria-label="Rows written" />}{' '}
      {countText(written, job.noun)} of {total.toLocaleString('en')} written
      {state === 'stopped' && '; what was written stays'}
      {state === 'done' && ` to ${job.table}`}.{' '}
      {state === 'done' && (
        <button type="button" onClick={onShow}>
          Look at them
        </button>
      )}
      {rejects.length > 0 && (
        <>
          <p>
            The service refused {countText(rejects.length, 'row')}. The first {rejects[0]!.reason}
          </p>
          <button type="button" onClick={() => saveRejects(name, rejects)}>
            Save them as a file
          </button>
        </>
      )}
    </div>
  );
}
