// Times what a statement does before it reads rows: parsing, binding and planning, for new and for
// known texts.

import { median } from './measure.ts';
import { type BenchRow, benchRow } from './row.ts';
import type { HedgerowSide, Parameters } from './statement-sides.ts';

interface Given {
  readonly text: string;
  readonly parameters: Parameters;
}

const KNOWN =
  'MATCH (e:Post) WHERE $n IN e.members AND e.event_ts BETWEEN $a AND $b AND e.weight > $w RETURN e.id, e.event_ts, e.weight ORDER BY e.event_ts LIMIT 10';

/** Returns a text with literals in place of parameters, so that every text is new. */
function newText(i: number): Given {
  const text = `MATCH (e:Post) WHERE ${i} IN e.members AND e.event_ts BETWEEN ${1000 + i} AND ${90_000 + i * 3} AND e.weight > ${i % 20}.5 RETURN e.id, e.event_ts, e.weight ORDER BY e.event_ts LIMIT 10`;
  return { text, parameters: {} };
}

function knownText(i: number): Given {
  return { text: KNOWN, parameters: { n: i, a: 1000 + i, b: 90_000 + i * 3, w: (i % 20) + 0.5 } };
}

/** Returns rows with medians in microseconds and their targets. */
export async function planningRows(ours: HedgerowSide, tiny: boolean): Promise<BenchRow[]> {
  const runs = tiny ? 50 : 10_000;
  return [
    benchRow({
      name: 'parse, bind and plan of a new text',
      unit: 'us',
      ours: await medianUs(ours, runs, newText),
      target: { oursAtMost: 50 },
    }),
    benchRow({
      name: 'parse, bind and plan of a known text, other parameters',
      unit: 'us',
      ours: await medianUs(ours, runs, knownText),
      target: { oursAtMost: 5 },
    }),
  ];
}

/**
 * Returns the median microseconds from the text to a result of which no row has been read. This
 * includes taking the snapshot and awaiting the promise. The first half of the runs is a warm-up.
 */
async function medianUs(ours: HedgerowSide, runs: number, given: (i: number) => Given): Promise<number> {
  const taken: number[] = [];
  for (let i = 0; i < runs; i++) {
    const { text, parameters } = given(i);
    const start = performance.now();
    await ours.plan(text, parameters);
    taken.push((performance.now() - start) * 1000);
  }
  return median(taken.slice(runs >> 1));
}
