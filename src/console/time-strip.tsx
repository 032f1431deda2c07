// The strip along the top: plots the chosen table's edges over time. The user sets the window of
// time for the views by dragging over the plot, or in the two fields.

import { Failure } from './failure.tsx';
import { countText, timeText } from './format.ts';
import type { PlotInput } from './plot.ts';
import { PlotFrame } from './plot-frame.tsx';
import { type ComponentChildren, type JSX, useEffect, useMemo, useState } from './preact.ts';
import { isListed, revision, table as tableItem, tableName, timeWindow } from './state.ts';
import { type Activity, activityOf } from './time-activity.ts';
import { WindowFields } from './window-fields.tsx';

/** The edges over time of one table. `strip` is undefined if the table has no edges. */
interface Found {
  readonly table: string;
  readonly strip: JSX.Element | undefined;
}

async function stripOf(table: string, hasIntervals: boolean): Promise<JSX.Element | undefined> {
  if (hasIntervals) return (await import('./intervals/interval-strip.tsx')).loadIntervals(table);
  const activity = await activityOf(table);
  return activity && <Strip activity={activity} />;
}

export function TimeStrip() {
  const table = tableName.value;
  const seen = revision.value;
  const hasIntervals = tableItem.value?.intervals === true;
  const [found, setFound] = useState<Found | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  // `seen` changes with each write of this page, so that the plot is up to date.
  useEffect(() => {
    if (table === '') return;
    let isGone = false;
    stripOf(table, hasIntervals).then(
      (strip) => {
        if (isGone) return;
        setFound({ table, strip });
        setError(undefined);
      },
      (failed) => {
        if (!isGone) setError(failed);
      },
    );
    return () => {
      isGone = true;
    };
  }, [table, hasIntervals, seen]);
  // Errors of the list of tables are shown above.
  if (table === '' && isListed.value) return null;
  const shown = found?.table === table ? found : undefined;
  return (
    <section class="strip" aria-label={`Time of ${table}`}>
      <Failure error={error} title="The edges over time cannot be shown" />
      {shown?.strip ??
        (error === undefined && (
          <Waiting hasIntervals={hasIntervals}>
            {shown === undefined
              ? `Looking at ${table} ...`
              : `${table} holds no edges yet. Import a file, or INSERT some.`}
          </Waiting>
        ))}
    </section>
  );
}

/** A placeholder as tall as the strip, so that nothing below moves when the strip is shown. */
function Waiting({ hasIntervals, children }: { hasIntervals: boolean; children: string }) {
  return (
    <div class="strip-wait">
      <p class="quiet strip-empty">{children}</p>
      <div class="strip-hidden">
        <div class="plot" />
        <div class="strip-foot">
          <span>1,000 edges, times in UTC</span>
          <WindowFields first={0} last={0} />
        </div>
        {hasIntervals && <button type="button">Any time</button>}
      </div>
    </div>
  );
}

/** Range of the JavaScript Date: this many seconds before and after 1970. */
const CALENDAR_SECONDS = 8.64e12;

interface StripProps {
  readonly activity: Activity;
  /** What is drawn otherwise than for a table without intervals. */
  readonly look?: Pick<PlotInput, 'over' | 'yLabel'>;
  /** Describes the plot further. */
  readonly about?: string;
  readonly foot?: string;
  readonly children?: ComponentChildren;
}

export function Strip({ activity, look, about = '', foot = '', children }: StripProps) {
  const { first, last, edges, bucketSeconds, starts, counts } = activity;
  const input = useMemo<PlotInput>(
    () => ({
      x: starts,
      y: counts,
      barWidth: bucketSeconds,
      isTime: first > -CALENDAR_SECONDS && last < CALENDAR_SECONDS,
      height: 112,
      yLabel: 'edges',
      onBrush: (start, end) => {
        const held = { start: Math.max(start, first), end: Math.min(end, last) };
        if (held.start <= held.end) timeWindow.value = held;
      },
      ...look,
    }),
    [activity],
  );
  return (
    <>
      <PlotFrame
        input={input}
        marked={timeWindow.value}
        label={`${countText(edges, 'edge')} of ${activity.table} from ${timeText(first)} to ${timeText(last)}. ${about} Drag over it, or use the fields below, to choose a window.`}
      />
      <div class="strip-foot">
        <span class="quiet">
          {countText(edges, 'edge')}, {foot !== '' && `${foot}, `}times in UTC
        </span>
        <WindowFields first={first} last={last} />
      </div>
      {children}
    </>
  );
}
