// Manages one import, which is planned, writing, stopped or done. No edge is written twice.

import { countText } from '../format.ts';
import { useRef, useState } from '../preact.ts';
import type { PlannedEdge } from './edge-plan.ts';
import { canGoOn, doneEdges, newImportKey, type Progress, type Target, writeEdges } from './write-edges.ts';

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
  /** Prepares another import: of other edges, or into another table. */
  readonly planAnew: () => void;
}

/** Calls `onDone` with the name of the table when `writeEdges` has returned without an error. */
export function useCourse(edges: readonly PlannedEdge[], target: Target, onDone: (table: string) => void): Course {
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
      const last = await writeEdges({ edges, target, key, before: progress }, leaving.current.signal, setProgress);
      setState(doneEdges(last) < edges.length ? 'stopped' : 'done');
      onDone(target.name);
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
    words: wordsOf(state, edges.length, progress),
    canWrite: (state === 'planned' || state === 'stopped') && canGoOn(progress) && edges.length > 0,
    write,
    stop: () => leaving.current?.abort(new Error('Stopped.')),
    planAnew,
  };
}

function wordsOf(state: CourseState, total: number, progress: Progress | undefined): string {
  const done = doneEdges(progress);
  if (state === 'done') return `Imported ${countText(progress?.written ?? 0, 'edge')}`;
  if (state === 'stopped' && done > 0 && canGoOn(progress))
    return `Import the other ${countText(total - done, 'edge')}`;
  return `Import ${countText(total, 'edge')}`;
}
