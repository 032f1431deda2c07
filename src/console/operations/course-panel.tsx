// Plots requests per second and memory, as sampled while this view is open.

import { bytesText, countText, numberText } from '../format.ts';
import { PlotFrame } from '../plot-frame.tsx';
import { useMemo } from '../preact.ts';

export interface Moment {
  /** Epoch seconds. */
  readonly ts: number;
  readonly requests: number;
  readonly memoryBytes: number;
}

const MEGABYTE = 1024 * 1024;

export function CoursePanel({ moments }: { moments: readonly Moment[] }) {
  const rates = useMemo(() => ratesOf(moments), [moments]);
  const memory = useMemo(
    () => ({ x: moments.map(({ ts }) => ts), y: moments.map(({ memoryBytes }) => memoryBytes / MEGABYTE) }),
    [moments],
  );
  const now = moments.at(-1);
  const rate = rates.y.at(-1);
  return (
    <section class="panel" aria-label="Load">
      <h2>Load while this view is open</h2>
      {rate === undefined || now === undefined ? (
        <p class="quiet">A plot needs two looks; the second comes in a few seconds, or by Look again.</p>
      ) : (
        <div class="courses">
          <Course title={`Requests a second: ${numberText(rate)}`} x={rates.x} y={rates.y} label="Requests a second" />
          <Course
            title={`Memory of the process: ${bytesText(now.memoryBytes)}`}
            x={memory.x}
            y={memory.y}
            label="Megabytes of memory"
          />
        </div>
      )}
    </section>
  );
}

interface CourseProps {
  readonly title: string;
  readonly label: string;
  readonly x: readonly number[];
  readonly y: readonly number[];
}

function Course({ title, label, x, y }: CourseProps) {
  const input = useMemo(() => ({ x, y, barWidth: 0, isTime: true, height: 130, yLabel: label }), [x, y, label]);
  return (
    <figure class="curve">
      <figcaption>{title}</figcaption>
      <PlotFrame input={input} label={`${title}, over ${countText(x.length, 'look')}.`} />
    </figure>
  );
}

function ratesOf(moments: readonly Moment[]): { x: readonly number[]; y: readonly number[] } {
  const pairs = moments.slice(1).map((moment, at) => {
    const before = moments[at]!;
    const seconds = Math.max(0.001, moment.ts - before.ts);
    return { ts: moment.ts, rate: Math.round((10 * Math.max(0, moment.requests - before.requests)) / seconds) / 10 };
  });
  return { x: pairs.map(({ ts }) => ts), y: pairs.map(({ rate }) => rate) };
}
