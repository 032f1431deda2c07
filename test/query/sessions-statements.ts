// Makes random statements for sessions, each with its meaning: its answer over the rows that the
// session sees, and its changes to these rows.

import type { Random } from '../support/random.ts';
import {
  bind,
  changeCondition,
  type Parameters,
  pick,
  randomMembers,
  randomNote,
  randomNumber,
  randomTime,
  readCondition,
  where,
} from './sessions-conditions.ts';
import type { ModelTable, ModelTransaction, Row } from './sessions-rows.ts';

export type Expected =
  | { readonly rows: readonly unknown[]; readonly ordered: boolean }
  /** The statement is refused with this error code and changes nothing. */
  | { readonly refused: string }
  | 'any rows';

// biome-ignore lint/suspicious/noExplicitAny: rows have every form.
export type Answered = readonly any[];

export interface SessionStatement {
  readonly text: string;
  readonly parameters: Parameters;
  /**
   * Changes `view` as the statement does, and returns the expected answer. `answered` are the rows
   * received, from which the ids of inserted rows are taken.
   */
  meaning(view: ModelTransaction, answered: Answered): Expected;
}

/** The session that sends a statement. */
export interface Sender {
  readonly random: Random;
  /** The session's own node. */
  readonly home: number;
  readonly view: ModelTransaction;
}

const COLUMNS = 'e.id, e.event_ts, e.members, e.n, e.note';

function rowsInAnyOrder(rows: readonly unknown[]): Expected {
  return { rows, ordered: false };
}

// Reads

export function readStatement(sender: Sender, table: ModelTable): SessionStatement {
  const { random, home, view } = sender;
  const parameters: Parameters = {};
  const condition = readCondition(random, parameters, view.rows(table), home);
  const from = `MATCH (e:${table.name})${where(condition, 'e.')}`;
  const found = (seen: ModelTransaction) => seen.rows(table).filter(condition.holds);
  switch (random.below(8)) {
    case 0:
    case 1:
      return {
        text: `${from} RETURN COUNT(*) AS count`,
        parameters,
        meaning: (seen) => rowsInAnyOrder([{ count: found(seen).length }]),
      };
    case 2: {
      const limit = 1 + random.below(8);
      const newest = (seen: ModelTransaction) => found(seen).sort((a, b) => b.event_ts - a.event_ts || b.id - a.id);
      return {
        text: `${from} RETURN ${COLUMNS} ORDER BY e.event_ts DESC, e.id DESC LIMIT ${limit}`,
        parameters,
        meaning: (seen) => ({ rows: newest(seen).slice(0, limit), ordered: true }),
      };
    }
    case 3:
      return {
        text: `${from} RETURN COUNT(*) AS rows, COUNT(e.n) AS numbers, SUM(e.n) AS sum, MIN(e.event_ts) AS least, MAX(e.event_ts) AS most`,
        parameters,
        meaning: (seen) => rowsInAnyOrder([figuresOf(found(seen))]),
      };
    case 4:
      return {
        text: `${from} RETURN e.event_ts AS time, SUM(e.n) AS sum, COUNT(*) AS rows`,
        parameters,
        meaning: (seen) => rowsInAnyOrder(sumsByTime(found(seen))),
      };
    default:
      return {
        text: `${from} RETURN ${COLUMNS}`,
        parameters,
        meaning: (seen) => rowsInAnyOrder(found(seen)),
      };
  }
}

export function readAll(table: ModelTable): SessionStatement {
  return {
    text: `MATCH (e:${table.name}) RETURN ${COLUMNS}`,
    parameters: {},
    meaning: (seen) => rowsInAnyOrder(seen.rows(table)),
  };
}

/** Returns a statement that reads both tables. Both reads must be from the same moment. */
export function joinStatement(items: ModelTable, pairs: ModelTable): SessionStatement {
  return {
    text: `MATCH (a:${items.name}), (b:${pairs.name}) WHERE a.event_ts = b.event_ts AND a.n < b.n RETURN a.id AS a, b.id AS b`,
    parameters: {},
    meaning: (seen) => {
      const right = seen.rows(pairs);
      return rowsInAnyOrder(
        seen
          .rows(items)
          .flatMap((a) =>
            right
              .filter((b) => a.event_ts === b.event_ts && a.n !== null && b.n !== null && a.n < b.n)
              .map((b) => ({ a: a.id, b: b.id })),
          ),
      );
    },
  };
}

function sumOf(rows: readonly Row[]): number | null {
  const numbers = rows.flatMap(({ n }) => n ?? []);
  return numbers.length === 0 ? null : numbers.reduce((sum, n) => sum + n, 0);
}

function figuresOf(rows: readonly Row[]) {
  const times = rows.map((row) => row.event_ts);
  return {
    rows: rows.length,
    numbers: rows.filter(({ n }) => n !== null).length,
    sum: sumOf(rows),
    least: rows.length === 0 ? null : Math.min(...times),
    most: rows.length === 0 ? null : Math.max(...times),
  };
}

function sumsByTime(rows: readonly Row[]) {
  return [...new Set(rows.map((row) => row.event_ts))].map((time) => {
    const group = rows.filter((row) => row.event_ts === time);
    return { time, sum: sumOf(group), rows: group.length };
  });
}

// Changes

export function insertStatement({ random, home }: Sender, table: ModelTable): SessionStatement {
  const parameters: Parameters = {};
  const rows = Array.from({ length: 1 + random.below(3) }, () => ({
    event_ts: randomTime(random),
    members: randomMembers(random, home),
    n: randomNumber(random),
    note: randomNote(random),
  }));
  return insertOf(table, rows, parameters);
}

export function insertOf(
  table: ModelTable,
  rows: readonly Omit<Row, 'id'>[],
  parameters: Parameters,
): SessionStatement {
  const values = rows.map(({ event_ts, members, n, note }) => {
    const text = [bind(parameters, event_ts), `[${members}]`, n, bind(parameters, note)];
    return `(${text.map((value) => value ?? 'null').join(', ')})`;
  });
  return {
    text: `INSERT INTO ${table.name} (event_ts, members, n, note) VALUES ${values.join(', ')}`,
    parameters,
    meaning: (seen, answered) => {
      const first = answered[0]?.first_id as number;
      for (const [place, row] of rows.entries()) seen.insert(table, { id: first + place, ...row });
      const last = first + rows.length - 1;
      return rowsInAnyOrder([{ operation: 'INSERT', rows_affected: rows.length, first_id: first, last_id: last }]);
    },
  };
}

interface Assignment {
  readonly text: string;
  readonly values: (row: Row) => Partial<Row>;
}

function assignments(random: Random, parameters: Parameters, home: number): Assignment[] {
  const step = 1 + random.below(5);
  const members = randomMembers(random, home);
  const note = randomNote(random);
  const time = randomTime(random);
  const all: Assignment[] = [
    {
      text: `n = n + ${bind(parameters, step)}`,
      values: ({ n }) => ({ n: n === null ? null : n + step }),
    },
    { text: 'n = -n', values: ({ n }) => ({ n: n === null ? null : 0 - n }) },
    { text: `note = ${bind(parameters, note)}`, values: () => ({ note }) },
    { text: `members = [${members}]`, values: () => ({ members }) },
    { text: `event_ts = ${bind(parameters, time)}`, values: () => ({ event_ts: time }) },
    // The right-hand sides use the old values, in any order of the assignments.
    {
      text: 'event_ts = event_ts + 1, n = event_ts',
      values: (row) => ({ event_ts: row.event_ts + 1, n: row.event_ts }),
    },
    { text: 'n = null', values: () => ({ n: null }) },
  ];
  const columnOf = ({ text }: Assignment) => text.slice(0, text.indexOf(' '));
  const first = pick(random, all);
  const second = pick(random, all);
  const isPair = columnOf(first) !== columnOf(second) && !/event_ts =.*, n/.test(first.text + second.text);
  return isPair ? [first, second] : [first];
}

export function updateStatement(sender: Sender, table: ModelTable): SessionStatement {
  const { random, home, view } = sender;
  const parameters: Parameters = {};
  const sets = assignments(random, parameters, home);
  const condition = changeCondition(random, parameters, view.rows(table), home);
  const used = usedParameters(parameters, `${sets.map(({ text }) => text).join()} ${where(condition, '')}`);
  return {
    text: `UPDATE ${table.name} SET ${sets.map(({ text }) => text).join(', ')}${where(condition, '')}`,
    parameters: used,
    meaning: (seen) => {
      const found = seen.rows(table).filter(condition.holds);
      for (const row of found)
        seen.update(table, Object.assign({ ...row }, ...sets.map((set) => set.values(row))) as Row);
      return changed('UPDATE', found.length);
    },
  };
}

function usedParameters(parameters: Parameters, text: string): Parameters {
  const names = new Set([...text.matchAll(/\$(\w+)/g)].map(([, name]) => name));
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.has(name)));
}

export function deleteStatement({ random, home, view }: Sender, table: ModelTable): SessionStatement {
  const parameters: Parameters = {};
  const condition = changeCondition(random, parameters, view.rows(table), home);
  return deleteOf(table, where(condition, ''), parameters, condition.holds);
}

export function deleteOf(
  table: ModelTable,
  rest: string,
  parameters: Parameters,
  holds: (row: Row) => boolean,
): SessionStatement {
  return {
    text: `DELETE FROM ${table.name}${rest}`,
    parameters,
    meaning: (seen) => {
      const found = seen.rows(table).filter(holds);
      for (const { id } of found) seen.remove(table, id);
      return changed('DELETE', found.length);
    },
  };
}

function changed(operation: 'UPDATE' | 'DELETE', rows: number): Expected {
  return rowsInAnyOrder([{ operation, rows_affected: rows }]);
}

// Statements that fail, some of them after doing part of their work

type Failing = readonly [text: string, code: string];

const FAILING: readonly Failing[] = [
  ['MATCH (e:Items) RETRUN e', 'syntax_error'],
  ['INSERT INTO Items (event_ts, members) VALUES (1, [1]), (2, [])', 'empty_members'],
  ['INSERT INTO Items (event_ts, members, n) VALUES (1, [1], 1), (2, [1], 0.5)', 'invalid_statement'],
  ['UPDATE Items SET nope = 1', 'unknown_column'],
  ['DELETE FROM Nowhere', 'table_not_found'],
  ['DELETE FROM Items WHERE n = $missing', 'invalid_statement'],
  ['MATCH (e:Items) WHERE e.n RETURN e', 'invalid_statement'],
  ['ANALYZE DELETE FROM Items', 'invalid_statement'],
];

const FAILING_INSIDE: readonly Failing[] = [
  ['BEGIN', 'invalid_statement'],
  ['COMPACT', 'invalid_statement'],
  ['CREATE INDEX ON Items (n)', 'invalid_statement'],
  ['DROP HYPEREDGE TABLE Items', 'invalid_statement'],
  ['ALTER TABLE Pairs ADD COLUMN late REAL', 'invalid_statement'],
];

const FAILING_OUTSIDE: readonly Failing[] = [
  ['COMMIT', 'invalid_statement'],
  ['ROLLBACK', 'invalid_statement'],
];

export function failingStatement(random: Random, items: ModelTable, inside: boolean): SessionStatement {
  if (random.chance(0.3)) return overflowing(items);
  const [text, code] = pick(random, [...FAILING, ...(inside ? FAILING_INSIDE : FAILING_OUTSIDE)]);
  return { text, parameters: {}, meaning: () => ({ refused: code }) };
}

/**
 * Returns an UPDATE that fails at the first number that becomes too large. Then no other row may be
 * changed either.
 */
function overflowing(table: ModelTable): SessionStatement {
  return {
    text: `UPDATE ${table.name} SET n = n * $most, note = 'large' WHERE n > 1`,
    parameters: { most: Number.MAX_SAFE_INTEGER },
    meaning: (seen) =>
      seen.rows(table).some(({ n }) => n !== null && n > 1) ? { refused: 'invalid_statement' } : changed('UPDATE', 0),
  };
}

/** Returns an EXPLAIN, which describes what the statement would do but does nothing. */
export function explainStatement({ text, parameters }: SessionStatement): SessionStatement {
  return { text: `EXPLAIN ${text}`, parameters, meaning: () => 'any rows' };
}
