// Makes random conditions and columns for the statements of sessions. Each condition is a text with
// parameters, and a predicate on a row.

import type { Random } from '../support/random.ts';
import type { Row } from './sessions-rows.ts';

/** Parameters of the statement being built, by name. */
export type Parameters = Record<string, unknown>;

export interface Condition {
  /**
   * Returns the text of the condition, or '' if there is none. `prefix` precedes each column: `e.`
   * or nothing.
   */
  readonly text: (prefix: string) => string;
  readonly holds: (row: Row) => boolean;
}

export const EVERYTHING: Condition = { text: () => '', holds: () => true };

/** Row times range from 0 to LAST_TIME. */
export const LAST_TIME = 99;
const NOTES = ['red', 'green', "it's", '', 'ü'];
/** Number of nodes that all sessions share. Each higher node belongs to one session. */
const COMMON_NODES = 8;

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.below(from.length)]!;
}

/** Adds a new parameter for a value, and returns its reference. */
export function bind(parameters: Parameters, value: unknown): string {
  const name = `p${Object.keys(parameters).length}`;
  parameters[name] = value;
  return `$${name}`;
}

export function randomTime(random: Random): number {
  return random.below(LAST_TIME + 1);
}

/**
 * Returns members in ascending order without duplicates, mostly including the session's own node.
 */
export function randomMembers(random: Random, home: number): number[] {
  const nodes = new Set(random.chance(0.8) ? [home] : []);
  for (let count = 1 + random.below(3); count > 0; count--) nodes.add(1 + random.below(COMMON_NODES));
  return [...nodes].sort((a, b) => a - b);
}

export function randomNumber(random: Random): number | null {
  return random.chance(0.15) ? null : random.below(30) - 5;
}

export function randomNote(random: Random): string | null {
  return random.chance(0.2) ? null : pick(random, NOTES);
}

type Maker = (random: Random, parameters: Parameters, rows: readonly Row[], home: number) => Condition;

const ofId: Maker = (random, parameters, rows) => {
  const id = rows.length === 0 || random.chance(0.05) ? 1_000_000 : pick(random, rows).id;
  const name = bind(parameters, id);
  return { text: (prefix) => `${prefix}id = ${name}`, holds: (row) => row.id === id };
};

const ofHome: Maker = (_random, parameters, _rows, home) => {
  const name = bind(parameters, home);
  return { text: (prefix) => `${name} IN ${prefix}members`, holds: (row) => row.members.includes(home) };
};

const ofNode: Maker = (random, parameters) => {
  const node = 1 + random.below(COMMON_NODES);
  const name = bind(parameters, node);
  return { text: (prefix) => `${name} IN ${prefix}members`, holds: (row) => row.members.includes(node) };
};

function ofWindow(width: number): Maker {
  return (random, parameters) => {
    const start = randomTime(random);
    const end = start + random.below(width);
    const [low, high] = [bind(parameters, start), bind(parameters, end)];
    const isSplit = random.chance(0.5);
    return {
      text: (prefix) =>
        isSplit
          ? `${prefix}event_ts >= ${low} AND ${prefix}event_ts < ${high} + 1`
          : `${prefix}event_ts BETWEEN ${low} AND ${high}`,
      holds: (row) => row.event_ts >= start && row.event_ts <= end,
    };
  };
}

const ofNumber: Maker = (random, parameters) => {
  const least = random.below(30) - 5;
  const name = bind(parameters, least);
  switch (random.below(3)) {
    case 0:
      return { text: (prefix) => `${prefix}n = ${name}`, holds: (row) => row.n === least };
    case 1:
      return { text: (prefix) => `${prefix}n IS NULL`, holds: (row) => row.n === null };
    default:
      return { text: (prefix) => `${prefix}n > ${name}`, holds: (row) => row.n !== null && row.n > least };
  }
};

const ofNote: Maker = (random, parameters) => {
  const note = pick(random, NOTES);
  const name = bind(parameters, note);
  return { text: (prefix) => `${prefix}note = ${name}`, holds: (row) => row.note === note };
};

function both(a: Condition, b: Condition): Condition {
  return {
    text: (prefix) => `${a.text(prefix)} AND ${b.text(prefix)}`,
    holds: (row) => a.holds(row) && b.holds(row),
  };
}

/** Returns a condition for reads. Some are answered by an index, and others are not. */
export function readCondition(random: Random, parameters: Parameters, rows: readonly Row[], home: number): Condition {
  const make = (makers: readonly Maker[]) => pick(random, makers)(random, parameters, rows, home);
  if (random.chance(0.12)) return EVERYTHING;
  const first = make([ofId, ofHome, ofNode, ofWindow(30), ofWindow(6), ofNumber, ofNote]);
  return random.chance(0.3) ? both(first, make([ofNode, ofWindow(60), ofNumber, ofNote])) : first;
}

/**
 * Returns a condition for changes. It selects few rows, mostly the session's own, and sometimes
 * rows that others change too.
 */
export function changeCondition(random: Random, parameters: Parameters, rows: readonly Row[], home: number): Condition {
  const make = (makers: readonly Maker[]) => pick(random, makers)(random, parameters, rows, home);
  if (random.chance(0.5)) return both(ofHome(random, parameters, rows, home), make([ofWindow(40), ofNumber, ofId]));
  return random.chance(0.7) ? make([ofId]) : both(make([ofWindow(3)]), make([ofNode, ofNote, ofNumber]));
}

export function where(condition: Condition, prefix: string): string {
  const text = condition.text(prefix);
  return text === '' ? '' : ` WHERE ${text}`;
}
