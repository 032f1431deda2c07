// The window of time as two fields, for users of the keyboard, who cannot drag over the plot.

import { secondsOfField, timeField } from './format.ts';
import { useEffect, useRef, useState } from './preact.ts';
import { timeWindow } from './state.ts';

/**
 * A time is applied when the field has not changed for this long, on Enter, or when the field loses
 * the focus. While the user types, the field contains times that are not meant.
 */
const SETTLED_MS = 700;

interface Drafts {
  readonly start?: string;
  readonly end?: string;
}

export function WindowFields({ first, last }: { first: number; last: number }) {
  const window = timeWindow.value;
  const [drafts, setDrafts] = useState<Drafts>({});
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // Dragging over the plot, choosing another table, and the button below discard what was typed.
  useEffect(() => setDrafts({}), [window, first, last]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const wanted = {
    start: secondsOfField(drafts.start ?? '') ?? window?.start ?? first,
    end: secondsOfField(drafts.end ?? '') ?? window?.end ?? last,
  };
  const isBackwards = wanted.start > wanted.end;
  const take = (next: typeof wanted) => {
    clearTimeout(timer.current);
    const isNew = next.start !== (window?.start ?? first) || next.end !== (window?.end ?? last);
    if (isNew && next.start <= next.end) timeWindow.value = next;
  };
  const field = (which: 'start' | 'end', title: string) => (
    <label>
      {title}{' '}
      <input
        type="datetime-local"
        step="1"
        value={drafts[which] ?? fieldOf(wanted[which])}
        aria-invalid={isBackwards}
        onInput={(event) => {
          const text = event.currentTarget.value;
          setDrafts({ ...drafts, [which]: text });
          clearTimeout(timer.current);
          const seconds = secondsOfField(text);
          if (seconds !== undefined)
            timer.current = setTimeout(() => take({ ...wanted, [which]: seconds }), SETTLED_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') take(wanted);
        }}
        onBlur={() => take(wanted)}
      />
    </label>
  );
  return (
    <span class="strip-fields">
      {isBackwards && <span role="alert">The window ends before it begins.</span>}
      {field('start', 'From')}
      {field('end', 'to')}
      <button
        type="button"
        class="plain"
        disabled={window === undefined}
        onClick={() => {
          timeWindow.value = undefined;
        }}
      >
        All of time
      </button>
    </span>
  );
}

/** Returns the field's text for a time, which is empty if the field cannot hold that time. */
function fieldOf(seconds: number): string {
  const text = timeField(seconds);
  return /^\d{4}-/.test(text) ? text : '';
}
