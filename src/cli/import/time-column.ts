// Which column of a file holds the time, where nobody says it.

import { dayAndMonth, guessTimeFormat, secondsIn, type TimeFormat } from '../../formats/times.ts';

/** Names that mean a time whatever stands beside them: the first one wins. */
const CERTAIN_NAMES = ['event_ts', 'timestamp', 'ts', 'time', 'datetime', 'date', 'created_at'];
/** Names that may mean something else: taken when exactly one column is so called, and holds times. */
const POSSIBLE_NAMES = ['when', 'at', 'start', 'started_at', 'start_time', 'event_time', 'occurred_at', 'date_time'];

export const TIME_NAMES: readonly string[] = [...CERTAIN_NAMES, ...POSSIBLE_NAMES];

const LOOKED_AT = 200;

export interface TimeSearch {
  readonly names: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Names of columns with nodes: `start` and `end` may be such. */
  readonly members: readonly string[];
  /** Undefined: the one that the cells look like. */
  readonly format: TimeFormat | undefined;
}

/** Indexes of columns. One: that is it; several: any of them may be. */
export function guessTimeColumns({ names, rows, members, format }: TimeSearch): number[] {
  const nodes = new Set(members.map((name) => name.toLowerCase()));
  const lower = names.map((name) => {
    const key = name.toLowerCase();
    return nodes.has(key) ? '' : key.replaceAll(/[ -]/g, '_');
  });
  const called = (wanted: readonly string[]) => wanted.map((name) => lower.indexOf(name)).filter((at) => at >= 0);
  const isTime = (index: number) =>
    holdsTimes(
      rows.slice(0, LOOKED_AT).map((row) => row[index]),
      format,
    );
  const certain = called(CERTAIN_NAMES);
  if (lower[certain[0]!] === 'event_ts') return certain.slice(0, 1);
  const best = certain.find(isTime);
  if (best !== undefined) return [best];
  const possible = called(POSSIBLE_NAMES).filter(isTime);
  // Where none can be read, the rows of the likeliest say why.
  return possible.length > 0 ? possible : certain.slice(0, 1);
}

/** Most of them, at least: some rows may be bad. A date that needs a flag is one; what to do is told of its row. */
function holdsTimes(cells: readonly unknown[], given: TimeFormat | undefined): boolean {
  const present = cells.filter((cell) => cell !== null && cell !== undefined && cell !== '');
  const format = given ?? guessTimeFormat(present);
  const good = present.filter((cell) => dayAndMonth(cell) !== undefined || !Number.isNaN(secondsIn(cell, format)));
  return good.length * 2 >= present.length;
}
