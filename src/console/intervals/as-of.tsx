// A slider for the moment at which edges must hold. It writes the moment into the statement, where
// it can be seen and changed, and reads it from there.

import { secondsOfField, timeField, timeText } from '../format.ts';
import { useEffect, useId, useRef, useState } from '../preact.ts';
import { momentOf, withMoment } from '../query/moment-condition.ts';
import { asksChosenTable, rewriteStatement, statement } from '../query/query-state.ts';
import { run } from '../query/run.ts';
import { onlyReads } from '../query/script.ts';
import { tableName } from '../state.ts';
import { momentAt, stepOf, stepsBetween } from './moments.ts';

/** A moment is applied when the slider or the field has not changed for this long. */
const SETTLED_MS = 300;

/** `first` and `last` are the seconds at the ends of the slider. */
export function AsOf({ first, last }: { first: number; last: number }) {
  const id = useId();
  const text = statement.value;
  const isAsked = asksChosenTable() && onlyReads(text);
  const moment = isAsked ? momentOf(text) : undefined;
  const [draft, setDraft] = useState<number | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setDraft(undefined), [text, first, last]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (wanted: number | undefined) => {
    clearTimeout(timer.current);
    const before = statement.value;
    const changed = withMoment(before, wanted);
    setDraft(undefined);
    if (changed === before) return;
    rewriteStatement(changed);
    // In the list of earlier statements the moments of one slide are one entry.
    void run(changed, false, moment === undefined ? '' : before);
  };
  const choose = (wanted: number) => {
    setDraft(wanted);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => apply(wanted), SETTLED_MS);
  };
  const shown = draft ?? moment;
  const words = shown === undefined ? 'any time' : `${timeText(shown)} UTC`;
  const steps = stepsBetween(first, last);
  return (
    <div class="as-of">
      <label for={id}>As of</label>
      <input
        id={id}
        type="range"
        min="0"
        max={steps}
        step="1"
        value={shown === undefined ? steps : stepOf(shown, first, last)}
        aria-valuetext={words}
        disabled={!isAsked}
        onInput={(event) => choose(momentAt(Number(event.currentTarget.value), first, last))}
      />
      <output for={id}>{words}</output>
      <input
        type="datetime-local"
        step="1"
        aria-label="Moment"
        disabled={!isAsked}
        value={shown === undefined ? '' : fieldText(shown)}
        onInput={(event) => {
          const seconds = secondsOfField(event.currentTarget.value);
          if (seconds !== undefined) choose(seconds);
        }}
      />
      <button type="button" class="plain" disabled={shown === undefined} onClick={() => apply(undefined)}>
        Any time
      </button>
      {!isAsked && <span class="quiet">for a statement that reads {tableName.value}</span>}
    </div>
  );
}

/** Returns the field's text for a time, which is empty if the field cannot hold that time. */
function fieldText(seconds: number): string {
  const text = timeField(seconds);
  return /^\d{4}-/.test(text) ? text : '';
}
