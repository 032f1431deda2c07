// A plot as a component of the page: loads the plot library when it is first shown, and redraws
// when the data or the theme changes.

import type { Plot, PlotInput } from './plot.ts';
import { type ComponentChildren, useEffect, useRef } from './preact.ts';
import { theme } from './theme.ts';

interface Marked {
  readonly start: number;
  readonly end: number;
}

/** `label` describes the plot to users who cannot see it. */
export function PlotFrame(props: {
  input: PlotInput;
  marked?: Marked | undefined;
  label: string;
  children?: ComponentChildren;
}) {
  const { input, marked, label } = props;
  const target = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const mark = useRef(marked);
  mark.current = marked;
  const look = theme.value;
  // Drawing reads the theme's colours, so a change of the theme redraws.
  useEffect(() => {
    let isGone = false;
    void import('./plot.ts').then(({ drawPlot }) => {
      if (isGone || target.current === null) return;
      plot.current = drawPlot(target.current, input);
      plot.current.mark(mark.current);
      target.current.dataset.drawn = 'true';
    });
    return () => {
      isGone = true;
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [input, look]);
  useEffect(() => plot.current?.mark(marked), [marked?.start, marked?.end]);
  return <div ref={target} class="plot" role="img" aria-label={label} />;
}
