// Draws plots: bars over time with a brush, and lines. Only this file imports the plot library.

import uPlot from 'uplot';
import { numberText } from './format.ts';
import { colour } from './theme.ts';

export interface Plot {
  /**
   * Highlights a stretch of the x axis without calling `onBrush`; undefined removes the highlight.
   */
  mark(stretch: { start: number; end: number } | undefined): void;
  destroy(): void;
}

export interface PlotInput {
  /** Ascending. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** Width of a bar on the x axis; 0 draws a line. */
  readonly barWidth: number;
  /** True when the x axis holds epoch seconds. */
  readonly isTime: boolean;
  readonly height: number;
  /** Empty: the levels have no meaning and are not shown. */
  readonly yLabel: string;
  /** Is laid over the area between the axes. */
  readonly over?: HTMLElement;
  /** Called with the stretch that the user has brushed. */
  readonly onBrush?: (start: number, end: number) => void;
}

/** Draws into an element and adapts to changes of its width. */
export function drawPlot(target: HTMLElement, input: PlotInput): Plot {
  let marked: { start: number; end: number } | undefined;
  /** Called at each drawing, because positions change with the size of the plot. */
  const showMark = (drawn: uPlot) => {
    if (marked === undefined) return;
    const left = drawn.valToPos(marked.start, 'x');
    const width = Math.max(1, drawn.valToPos(marked.end, 'x') - left);
    drawn.setSelect({ left, width, top: 0, height: drawn.over.clientHeight }, false);
  };
  const plot = new uPlot(
    optionsOf(target, input, showMark),
    [Float64Array.from(input.x), Float64Array.from(input.y)] as unknown as uPlot.AlignedData,
    target,
  );
  if (input.over !== undefined) plot.over.prepend(input.over);
  const observer = new ResizeObserver(() => {
    if (target.clientWidth > 0) plot.setSize({ width: target.clientWidth, height: input.height });
  });
  observer.observe(target);
  return {
    mark: (stretch) => {
      marked = stretch;
      if (stretch === undefined) plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      else showMark(plot);
    },
    destroy: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
}

function optionsOf(target: HTMLElement, input: PlotInput, onDrawn: (plot: uPlot) => void): uPlot.Options {
  const { x, barWidth, onBrush } = input;
  const axis = {
    stroke: colour('quiet'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  const leaf = colour('leaf');
  return {
    width: Math.max(200, target.clientWidth),
    height: input.height,
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: onBrush !== undefined, y: false, setScale: false },
      // The library ignores events of what lies over the plot.
      ...(input.over && { bind: { mousedown: onAny, mousemove: onAny } }),
    },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      x: { time: input.isTime, range: () => [x[0] ?? 0, (x.at(-1) ?? 0) + (barWidth || 1e-9)] },
      y: { range: (_plot, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : Math.max(0, high) || 1] },
    },
    // The label of the last tick extends beyond the plot by half of its width.
    padding: [6, input.isTime ? 34 : 8, 0, 0],
    axes: [
      {
        ...axis,
        size: 38,
        // The lowest label of the other axis extends below the line.
        gap: 6,
        ...(input.isTime ? { space: 64, values: timeTexts } : { space: 80, values: tickTexts }),
      },
      { ...axis, size: 40, gap: 4, space: 28, ...(input.yLabel === '' && { splits: () => [] }) },
    ],
    series: [
      {},
      {
        label: input.yLabel,
        stroke: leaf,
        width: barWidth > 0 ? 0 : 1.5,
        points: { show: false },
        ...(barWidth > 0 ? { fill: leaf, paths: uPlot.paths.bars!({ size: [0.8, 60, 1], align: 1 }) } : {}),
      },
    ],
    hooks: {
      draw: [onDrawn],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (onBrush === undefined || width < 2) return;
          onBrush(Math.floor(plot.posToVal(left, 'x')), Math.ceil(plot.posToVal(left + width, 'x')));
        },
      ],
    },
  };
}

const onAny = (_plot: uPlot, _target: HTMLElement, handle: (event: MouseEvent) => null) => (event: MouseEvent) =>
  event.button === 0 ? handle(event) : null;

/** Formats ticks so short that they fit side by side, however large the numbers are. */
function tickTexts(_plot: uPlot, ticks: readonly number[]): string[] {
  return ticks.map((tick) => (Math.abs(tick) < 1e9 ? numberText(tick) : tick.toExponential(1)));
}

const DAY_S = 86_400;

/**
 * Formats ticks in UTC like ISO 8601. The second line is left out when it is the same as at the
 * previous tick.
 */
function timeTexts(_plot: uPlot, ticks: readonly number[], _axis: number, _space: number, step: number): string[] {
  let before = '';
  return ticks.map((tick) => {
    const iso = isoTime(tick);
    const [first, second] =
      step >= 365 * DAY_S
        ? [iso.slice(0, -15), '']
        : step >= 28 * DAY_S
          ? [iso.slice(-14, -12), iso.slice(0, -15)]
          : step >= DAY_S
            ? [iso.slice(-14, -9), iso.slice(0, -15)]
            : [iso.slice(-8, step < 60 ? undefined : -3), iso.slice(0, -9)];
    const isNew = second !== before;
    before = second;
    return isNew ? `${first}\n${second}` : first;
  });
}

/**
 * Formats as `2000-01-31T16:25:00`. If the number is outside the range of dates, returns its
 * digits, padded to the same length.
 */
function isoTime(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? String(seconds).padStart(19) : time.toISOString().slice(0, -5);
}
