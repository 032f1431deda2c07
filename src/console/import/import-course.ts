// Manages one import, which is planned, writing, stopped or done. No row is written twice.

import { countText } from '../format.ts';
import { useRef, useState } from '../preact.ts';
import { canGoOn, doneRows, type Job, newImportKey, type Progress, writeRows } from './write-parts.ts';

export type CourseState = 'planned' | 'writing' | 'done' | 'stopped';

export interface Course {
  readonly state: CourseState;
  readonly progress: Progress | undefined;
  readonly error: unknown;
  /** Describes what `write` would do, or has done. */
  readonly words: string;
  readonly canWrite: boolean;
  /** Starts the import, or continues it where it stopped. */
  readonly write: () => Promise<void>;
  readonly stop: () => void;
  /** Prepares another import: of other rows, or into another table. */
  readonly planAnew: () => void;
}

/** Calls `onDone` with the name of the table when `writeRows` has returned without an error. */
export function useCourse(job: Job, onDone: (table: string) => void): Course {
  const { rows, table, noun } = job;
  const [state, setState] = useState<CourseState>('planned');
  const [key, setKey] = useState(newImportKey);
  const [progress, setProgress] = useState<Progress | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const leaving = useRef<AbortController | undefined>(undefined);
  const write = async () => {
    setState('writing');
    setError(undefined);
    leaving.current = new AbortController();
    try {
      const last = await writeRows({ job, key, before: progress }, leaving.current.signal, setProgress);
      setState(doneRows(last) < rows.length ? 'stopped' : 'done');
      onDone(table);
    } catch (failed) {
      setState('stopped');
      setError(failed);
    }
  };
  const planAnew = () => {
    setState('planned');
    setKey(newImportKey());
    setProgress(undefined);
    setError(undefined);
  };
  return {
    state,
    progress,
    error,
    words: wordsOf(state, rows.length, noun, progress),
    canWrite: (state === 'planned' || state === 'stopped') && canGoOn(progress) && rows.length > 0,
    write,
    stop: () => leaving.current?.abort(new Error('Stopped.')),
    planAnew,
  };
}

function wordsOf(state: CourseState, total: number, noun: string, progress: Progress | undefined): string {
  const done = doneRows(progress);
  if (state === 'done') return `Imported ${countText(progress?.written ?? 0, noun)}`;
  if (state === 'stopped' && done > 0 && canGoOn(progress)) return `Import the other ${countText(total - done, noun)}`;
  return `Import ${countText(total, noun)}`;
}
