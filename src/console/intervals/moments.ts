// Converts between moments and the steps of a slider.

/** Number of steps of a slider over a longer time. */
const MOST_STEPS = 1000;

/** Returns the number of steps between two times in seconds; a step is at least one second. */
export function stepsBetween(first: number, last: number): number {
  return Math.max(1, Math.min(MOST_STEPS, last - first));
}

export function momentAt(step: number, first: number, last: number): number {
  return first + Math.round((step * (last - first)) / stepsBetween(first, last));
}

/** Returns the nearest step; the first or the last one for a moment beyond them. */
export function stepOf(moment: number, first: number, last: number): number {
  const steps = stepsBetween(first, last);
  if (last === first) return moment < first ? 0 : steps;
  return Math.max(0, Math.min(steps, Math.round((steps * (moment - first)) / (last - first))));
}
