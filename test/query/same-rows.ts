// Checks that an answer contains the expected rows, each at a position where it may be.
//
// Rows that are ties in ORDER BY may be returned in any order. SKIP and LIMIT may cut through a
// group of tied rows, and keep any of them. The naive result therefore lists all rows in order, and
// is split here into groups of tied entries. The rows of the answer at the positions of a group
// must be distinct entries of that group, and a group that is not cut must appear in full. For
// example, with the keys 1, 2, 2, 2 and LIMIT 2, the first row must be the entry with key 1, and
// the second any of the three with key 2.

import { expect } from 'vitest';
import type { Answer } from './execute.ts';
import type { NaiveEntry, NaiveResult } from './naive.ts';

/**
 * Returns the form in which values are compared: lists are sorted, because COLLECT promises no
 * order, and sums are rounded, because they may be added up in another order.
 */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value + 0 : Number(value.toPrecision(12));
  if (Array.isArray(value)) return value.map(plain).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

function lineOf(columns: readonly string[], values: readonly unknown[]): string {
  return JSON.stringify(columns.map((column, place) => [column, plain(values[place])]));
}

/**
 * Checks that every row is one that may be at its position: one of the entries tied there, each
 * used once.
 */
export function expectSameRows(answer: Answer, naive: NaiveResult): void {
  expect(answer.columns).toEqual(naive.columns);
  const { entries, tied, skip, limit } = naive;
  const given = answer.rows.map((row) => {
    const value = JSON.parse(row) as Record<string, unknown>;
    if (
      Object.keys(value).length !== naive.columns.length ||
      !naive.columns.every((name) => Object.hasOwn(value, name))
    )
      expect(Object.keys(value).sort()).toEqual([...naive.columns].sort());
    return lineOf(
      naive.columns,
      naive.columns.map((column) => value[column]),
    );
  });
  expect(given.length).toBe(Math.max(0, Math.min(limit, entries.length - skip)));
  for (let at = 0; at < entries.length; ) {
    let end = at + 1;
    while (end < entries.length && tied(entries[at]!, entries[end]!)) end++;
    const rows = given.slice(Math.max(0, at - skip), Math.max(0, end - skip));
    expectAmong(rows, entries.slice(at, end), naive.columns);
    at = end;
  }
}

function expectAmong(rows: readonly string[], entries: readonly NaiveEntry[], columns: readonly string[]): void {
  const open = entries.map((entry) => lineOf(columns, entry.values)).sort();
  if (rows.length === open.length) {
    const given = [...rows].sort();
    // An expectation of its own for each row would take most of the time of long answers.
    if (given.some((row, place) => row !== open[place])) expect(given).toEqual(open);
    return;
  }
  for (const row of rows) {
    const place = open.indexOf(row);
    if (place < 0) expect.fail(`${row} is none of ${open.join(' ')}`);
    open.splice(place, 1);
  }
}
