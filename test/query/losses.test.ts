// Checks for which statements the shell and the console ask for confirmation. They decide from the
// text alone, and must agree with the parser.

import { expect, test } from 'vitest';
import { bare } from '../../src/formats/bare-statement.ts';
import { lossOf } from '../../src/formats/losses.ts';
import type { Statement } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { fc } from '../support/property.ts';

function loses(statement: Statement): boolean {
  switch (statement.kind) {
    case 'dropTable':
    case 'dropIndex':
      return true;
    case 'alterTable':
      return statement.action.kind === 'dropColumn';
    case 'update':
    case 'delete':
      return statement.where === undefined;
    default:
      return false;
  }
}

const NAMES = ['t', 'where', '`where`', '`a "WHERE b`', 'drop', 'deleted', 'Where', 'WHERE_', 'set'];
const VALUES = ["'x'", "' WHERE '", '"it\'\' WHERE 1 = 1"', '$where', 'where', 'a + where', '[1, 2]', 'null', '-where'];
const GAPS = [' ', '\n', '  /* WHERE 1 = 1 */ ', ' // WHERE true\n'];
const CONDITIONS = [
  'WHERE event_ts > 1',
  'where NOT a',
  "Where a = 'x'",
  'WHERE (a)',
  'WHERE where = 1',
  'WHERE -a < 2',
];
const name = fc.constantFrom(...NAMES);
const gap = fc.constantFrom(...GAPS);
const sets = fc.array(fc.tuple(name, fc.constantFrom(...VALUES)), { minLength: 1, maxLength: 3 });
const condition = fc.option(fc.constantFrom(...CONDITIONS), { nil: '' });
const end = fc.constantFrom('', ';', ' ;\n', ' // WHERE x');

test('confirmation is requested exactly for drops and for DELETE and UPDATE without a condition', () => {
  const made = fc.oneof(
    fc.tuple(gap, name, condition, end).map(([g, t, where, e]) => `DELETE${g}FROM ${t}${g}${where}${e}`),
    fc
      .tuple(gap, name, sets, condition, end)
      .map(
        ([g, t, s, where, e]) =>
          `${g}update ${t} SET${g}${s.map(([c, v]) => `${c} = ${v}`).join(', ')}${g}${where}${e}`,
      ),
    fc.tuple(gap, name, end).map(([g, t, e]) => `DROP${g}HYPEREDGE TABLE IF EXISTS ${t}${e}`),
    fc.tuple(gap, name, name, end).map(([g, t, c, e]) => `drop INDEX${g}ON ${t} (${c})${e}`),
    fc.tuple(gap, name, name, end).map(([g, t, c, e]) => `ALTER${g}TABLE ${t}${g}DROP COLUMN ${c}${e}`),
    fc.tuple(gap, name, name, end).map(([g, t, c, e]) => `ALTER${g}TABLE ${t} RENAME COLUMN drop TO ${c}${e}`),
    fc.tuple(gap, name, end).map(([g, t, e]) => `EXPLAIN${g}DELETE FROM ${t}${e}`),
    fc.tuple(gap, name, end).map(([g, t, e]) => `MATCH (a:${t})${g}RETURN a.event_ts${e}`),
    fc.tuple(gap, name, end).map(([g, t, e]) => `INSERT INTO ${t} (event_ts, members)${g}VALUES (1, [1])${e}`),
  );
  const counts = { asked: 0, not: 0 };
  fc.assert(
    fc.property(made, (text) => {
      let statement: Statement;
      try {
        statement = parseStatement(text);
      } catch {
        return; // text that does not parse is never run
      }
      const isAsked = lossOf(text) !== undefined;
      counts[isAsked ? 'asked' : 'not']++;
      expect(isAsked, text).toBe(loses(statement));
    }),
    { numRuns: 5000, seed: 16 },
  );
  expect(counts.asked).toBeGreaterThan(500);
  expect(counts.not).toBeGreaterThan(500);
});

test('the question shows the statement on one line, shortened to fit', () => {
  expect(lossOf('\n// gone\nDROP  HYPEREDGE\n TABLE trips ;')).toBe(
    'DROP HYPEREDGE TABLE trips: this cannot be undone.',
  );
  expect(lossOf('DELETE FROM trips')).toBe('DELETE FROM trips: without WHERE this removes every edge of the table.');
  expect(lossOf(`UPDATE t SET a = '${'x'.repeat(5000)}'`)!.length).toBeLessThan(200);
  expect(bare("a 'b' /* c */ `d` // e")).toBe('a ___         ___     ');
});
