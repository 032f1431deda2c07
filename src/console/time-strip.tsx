// The hedge along the top: the chosen table's edges over time. Its brush, or its two fields, set the window that the views look through.

import { Failure } from './failure.tsx';
import { countText, secondsOfField, timeField, timeText } from './format.ts';
import type { PlotInput } from './plot.ts';
import { PlotFrame } from './plot-frame.tsx';
import { useEffect, useMemo, useState } from './preact.ts';
import { client } from './session.ts';
import { revision, tableName, timeWindow } from './state.ts';
import { quoted } from './statement-words.ts';

/** Bars over the whole table, more or less. */
const BARS = 240;

interface Activity {
  readonly table: string;
  readonly first: number;
  readonly last: number;
  readonly edges: number;
  readonly bucketSeconds: number;
  readonly bars: readonly { readonly ts: number; readonly count: number }[];
}

async function activityOf(table: string): Promise<Activity | undefined> {
  const statement = `MATCH (e:${quoted(table)}) RETURN MIN(e.event_ts) AS first, MAX(e.event_ts) AS last, COUNT(*) AS edges`;
  const { rows } = await client().query.run(statement);
  const { first, last, edges } = rows[0] as { first: number | null; last: number | null; edges: number };
  if (first === null || last === null) return undefined;
  const bucketSeconds = Math.max(1, Math.ceil((last - first + 1) / BARS));
  const { result } = await client().analytics.run(table, 'temporal_activity', { bucket_seconds: bucketSeconds });
  return { table, first, last, edges, bucketSeconds, bars: result as Activity['bars'] };
}

export function TimeStrip() {
  const table = tableName.value;
  const seen = revision.value;
  const [activity, setActivity] = useState<Activity | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  // A write of this page is a reason to look again.
  useEffect(() => {
    if (table === '') return;
    let isGone = false;
    activityOf(table).then(
      (found) => {
        if (isGone) return;
        setActivity(found);
        setError(undefined);
      },
      (failed) => {
        if (!isGone) setError(failed);
      },
    );
    return () => {
      isGone = true;
    };
  }, [table, seen]);
  if (table === '') return null;
  const shown = activity?.table === table ? activity : undefined;
  return (
    <section class="strip" aria-label={`Time of ${table}`}>
      <Failure error={error} title="The edges over time cannot be shown" />
      {shown === undefined ? (
        <p class="quiet strip-empty">
          {activity === undefined
            ? `${table} holds no edges yet. Import a file, or INSERT some.`
            : `Looking at ${table} ...`}
        </p>
      ) : (
        <Strip activity={shown} />
      )}
    </section>
  );
}

function Strip({ activity }: { activity: Activity }) {
  const { first, last, edges, bucketSeconds, bars } = activity;
  const window = timeWindow.value;
  const input = useMemo<PlotInput>(
    () => ({
      x: bars.map(({ ts }) => ts),
      y: bars.map(({ count }) => count),
      barWidth: bucketSeconds,
      isTime: true,
      height: 112,
      yLabel: 'edges',
      onBrush: (start, end) => {
        timeWindow.value = { start: Math.max(start, first), end: Math.min(end, last) };
      },
    }),
    [activity],
  );
  return (
    <>
      <PlotFrame
        input={input}
        marked={window}
        label={`${countText(edges, 'edge')} of ${activity.table} from ${timeText(first)} to ${timeText(last)}. Drag over it, or use the fields below, to choose a window.`}
      />
      <div class="strip-foot">
        <span class="quiet">{countText(edges, 'edge')}, times in UTC</span>
        <WindowFields first={first} last={last} />
      </div>
    </>
  );
}

function WindowFields({ first, last }: { first: number; last: number }) {
  const window = timeWindow.value;
  const change = (which: 'start' | 'end') => (event: { currentTarget: HTMLInputElement }) => {
    const seconds = secondsOfField(event.currentTarget.value);
    if (seconds === undefined) return;
    timeWindow.value = { start: window?.start ?? first, end: window?.end ?? last, [which]: seconds };
  };
  return (
    <span class="strip-fields">
      <label>
        From{' '}
        <input type="datetime-local" step="1" value={timeField(window?.start ?? first)} onChange={change('start')} />
      </label>
      <label>
        to <input type="datetime-local" step="1" value={timeField(window?.end ?? last)} onChange={change('end')} />
      </label>
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
