// Turns values of nodes into colours and sizes, with a legend.

import { numberText } from '../format.ts';

export type NodeValue = string | number | boolean | null;
/** Returns the value of a node; undefined if it is not known. */
export type ValueAt = (node: number) => NodeValue | undefined;

/** Number of colours for categories, and of steps of a scale; the style sheet defines them. */
export const CATEGORIES = 10;
export const STEPS = 7;
export const OTHER = 'category-other';
export const NO_VALUE = 'value-null';
export const UNKNOWN = 'value-unknown';

export interface LegendEntry {
  /** A class of the style sheet. */
  readonly look: string;
  readonly text: string;
  readonly count: number;
}

export interface Colouring {
  readonly lookOf: (node: number) => string;
  /** Has an entry for each look that occurs. */
  readonly legend: readonly LegendEntry[];
}

/** Colours nodes by their values: numbers by a scale, all others as categories. */
export function colouringOf(nodes: readonly number[], valueAt: ValueAt): Colouring {
  const values = nodes.flatMap((node) => valueAt(node) ?? []);
  const numbers = values.filter((value) => typeof value === 'number');
  const { lookOfValue, entries } = numbers.length === values.length ? scaleOf(numbers) : categoriesOf(values);
  const lookOf = (node: number) => {
    const value = valueAt(node);
    return value === undefined ? UNKNOWN : value === null ? NO_VALUE : lookOfValue(value);
  };
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(lookOf(node), (counts.get(lookOf(node)) ?? 0) + 1);
  const legend = [...entries, [NO_VALUE, 'no value (NULL)'] as const, [UNKNOWN, 'not known'] as const].flatMap(
    ([look, text]) => (counts.has(look) ? [{ look, text, count: counts.get(look)! }] : []),
  );
  return { lookOf, legend };
}

interface Looks {
  readonly lookOfValue: (value: Exclude<NodeValue, null>) => string;
  readonly entries: readonly (readonly [look: string, text: string])[];
}

/** Gives the most frequent values a colour each, in the order of their texts. */
function categoriesOf(values: readonly Exclude<NodeValue, null>[]): Looks {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
  const frequent = [...counts]
    .sort((a, b) => b[1] - a[1] || inOrder(a[0], b[0]))
    .slice(0, CATEGORIES)
    .map(([text]) => text)
    .sort(inOrder);
  const looks = new Map(frequent.map((text, at) => [text, `category-${at}`]));
  const others = counts.size - frequent.length;
  const entries = [...looks].map(([text, look]) => [look, text === '' ? 'empty text' : text] as const);
  return {
    lookOfValue: (value) => looks.get(String(value)) ?? OTHER,
    entries: others === 0 ? entries : [...entries, [OTHER, `${others} other values`]],
  };
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Values whose largest is this many times their smallest have steps of equal ratios. */
const WIDE = 100;

/** Divides numbers into steps of equal width or, if they are far apart, of equal ratio. */
function scaleOf(numbers: readonly number[]): Looks {
  const { least, most } = rangeOf(numbers);
  if (least === most)
    return { lookOfValue: () => `scale-${STEPS - 1}`, entries: [[`scale-${STEPS - 1}`, numberText(least)]] };
  const isWide = least > 0 && most / least >= WIDE;
  const isWhole = !isWide && most - least < STEPS && numbers.every(Number.isInteger);
  const steps = isWhole ? most - least + 1 : STEPS;
  const [low, high] = isWide ? [Math.log(least), Math.log(most)] : [least, most];
  const boundary = (at: number) => {
    const share = at / steps;
    const place = low * (1 - share) + high * share;
    return isWide ? Math.exp(place) : place;
  };
  // The colours of a few steps are spread over the whole scale.
  const lookAt = (at: number) => `scale-${Math.round((at * (STEPS - 1)) / (steps - 1))}`;
  const stepOf = (value: number) => {
    if (isWhole) return value - least;
    let at = 0;
    while (at < steps - 1 && value >= boundary(at + 1)) at += 1;
    return at;
  };
  const shown = (value: number) => numberText(rounded(value, most - least));
  const textAt = (at: number) =>
    isWhole
      ? numberText(least + at)
      : `${shown(at === 0 ? least : boundary(at))} to ${shown(at === steps - 1 ? most : boundary(at + 1))}`;
  return {
    lookOfValue: (value) => lookAt(stepOf(Number(value))),
    entries: Array.from({ length: steps }, (_, at) => [lookAt(at), textAt(at)] as const),
  };
}

/** Leaves as many digits as a legend needs for numbers in a range of this size, three to six. */
function rounded(value: number, range: number): number {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return value;
  const lost = Math.floor(Math.log10(Math.abs(value) / range));
  return Number(value.toPrecision(Math.max(3, Math.min(6, 3 + (Number.isFinite(lost) ? lost : 0)))));
}

/** Returns 0 for both if there are no numbers. */
function rangeOf(numbers: readonly number[]): { readonly least: number; readonly most: number } {
  if (numbers.length === 0) return { least: 0, most: 0 };
  return numbers.reduce(
    (range, value) => ({ least: Math.min(range.least, value), most: Math.max(range.most, value) }),
    {
      least: Infinity,
      most: -Infinity,
    },
  );
}

export interface Sizing {
  readonly radiusOf: (node: number) => number;
  readonly text: string;
}

const SMALLEST = 8;
const LARGEST = 20;
const DOT = 4.5;

/** Gives nodes an area that grows with their number; nodes without one are small dots. */
export function sizingOf(nodes: readonly number[], valueAt: ValueAt): Sizing {
  const numberOf = (node: number) => {
    const value = valueAt(node);
    return typeof value === 'number' ? value : undefined;
  };
  const numbers = nodes.flatMap((node) => numberOf(node) ?? []);
  const { least, most } = rangeOf(numbers);
  const radiusOf = (node: number) => {
    const value = numberOf(node);
    if (value === undefined) return DOT;
    // Each is divided first, because the difference of two large numbers may be infinite.
    const share = most === least ? 0.5 : (value / 2 - least / 2) / (most / 2 - least / 2);
    return Math.sqrt(SMALLEST ** 2 + share * (LARGEST ** 2 - SMALLEST ** 2));
  };
  const shown = (value: number) => numberText(rounded(value, most - least));
  const without = nodes.length - numbers.length;
  const range =
    numbers.length === 0
      ? 'no values'
      : least === most
        ? `all ${numberText(least)}`
        : `${shown(least)} (small) to ${shown(most)} (large)`;
  return { radiusOf, text: without === 0 ? range : `${range}; dots: ${without} without a value` };
}
