// The strip of time of a table with intervals: a bar for each edge, or how many edges hold, and the
// moment of the statement.

import { countText, timeText } from '../format.ts';
import { type JSX, render, useEffect, useMemo } from '../preact.ts';
import { momentOf } from '../query/moment-condition.ts';
import { asksChosenTable, statement } from '../query/query-state.ts';
import { view } from '../state.ts';
import { Strip } from '../time-strip.tsx';
import { AsOf } from './as-of.tsx';
import { type BarRows, WIDTH } from './bars.ts';
import { type HeldActivity, heldActivityOf } from './held-activity.ts';
import '../style/intervals.css';

/** Returns the strip of a table; undefined if it has no edges. */
export async function loadIntervals(table: string): Promise<JSX.Element | undefined> {
  const activity = await heldActivityOf(table);
  return activity === undefined ? undefined : <IntervalStrip activity={activity} />;
}

function IntervalStrip({ activity }: { activity: HeldActivity }) {
  const { first, until, from, to, rows } = activity;
  const isQuery = view.value === 'query';
  const moment = isQuery && asksChosenTable() ? momentOf(statement.value) : undefined;
  const over = useMemo(() => document.createElement('div'), []);
  useEffect(() => {
    over.className = 'strip-over';
    render(<Overlay rows={rows} place={moment === undefined ? undefined : (moment - from) / (to - from)} />, over);
  }, [activity, moment]);
  useEffect(() => () => render(null, over), []);
  const what = rows === undefined ? 'How many edges hold' : 'A bar for each edge, from its beginning to its end';
  return (
    <Strip
      activity={activity}
      look={{ over, yLabel: rows === undefined ? 'edges that hold' : '' }}
      about={`${what}, until ${timeText(until)}.`}
      foot={rows === undefined ? 'how many hold' : `${openText(rows)} without an end`}
    >
      {isQuery && <AsOf first={first} last={until} />}
    </Strip>
  );
}

function openText({ bars }: BarRows): string {
  return countText(bars.filter(({ interval }) => interval.end === null).length, 'edge');
}

const HEIGHT = 100;
const TALLEST = 14;

/** What lies over the plot: the bars, and a line at the moment, which is a share of the width. */
function Overlay({ rows, place }: { rows: BarRows | undefined; place: number | undefined }) {
  const lane = Math.min(TALLEST, HEIGHT / Math.max(1, rows?.lanes ?? 1));
  const isIn = place !== undefined && place >= 0 && place <= 1;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <defs>
        <linearGradient id="strip-fade">
          <stop offset="0.4" class="strip-stop" />
          <stop offset="1" class="strip-stop strip-stop-open" />
        </linearGradient>
      </defs>
      {rows?.bars.map(({ interval: { id, start, end }, x, width, lane: at, isOpen }) => (
        <rect
          key={id}
          class={isOpen ? 'strip-bar strip-bar-open' : 'strip-bar'}
          x={x.toFixed(2)}
          y={(at * lane).toFixed(2)}
          width={width.toFixed(2)}
          height={(lane * 0.72).toFixed(2)}
        >
          <title>{`HEDGE-${id}: ${timeText(start)} – ${end === null ? 'still holds' : timeText(end)}`}</title>
        </rect>
      ))}
      {isIn && <line class="strip-moment" x1={place * WIDTH} x2={place * WIDTH} y1="0" y2={HEIGHT} />}
    </svg>
  );
}
