// Tests that the judge detects lost, extra and changed rows, and operations of which only a part
// was stored.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { judge } from './judge.ts';
import { Ledger, type Operation, PRIMARY } from './ledger.mjs';
import { startWriter } from './spoken.ts';

const BUILT = existsSync(new URL('../../dist/main.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'hedgerow-judge-'));
const written = new Ledger();
const part = (rows: number) => ({ table: PRIMARY, start: 0, rows, old: false });

beforeAll(async () => {
  if (!BUILT) return;
  const task = { dir: `${home}/db`, backups: `${home}/backups`, expected: `${home}/expected.json`, seed: 4, lanes: 1 };
  const kinds = { insert: 10, transaction: 4, putDocument: 3, createTable: 2 };
  const writer = startWriter({ ...task, operations: 40, kinds }, written);
  await writer.word('done');
  writer.child.stdin!.end('close\n');
  await writer.end;
});

afterAll(() => rmSync(home, { recursive: true }));

/** Returns a copy of the ledger with a deliberate difference. */
function changed(change: (ledger: Ledger) => void): Ledger {
  const ledger = new Ledger(JSON.parse(JSON.stringify(written)));
  change(ledger);
  return ledger;
}

function firstGroup(
  ledger: Ledger,
): [number, { rows: number; firstId: number | undefined; changed: Map<number, number> }] {
  return [...ledger.tables.get(PRIMARY)!.groups][0]!;
}

const insert = (n: number, rows: number): Operation => ({
  n,
  kind: 'insert',
  bulk: true,
  keyed: false,
  parts: [part(rows)],
});

test.skipIf(!BUILT).each<[what: string, change: (ledger: Ledger) => void, says: RegExp | undefined]>([
  ['an unchanged ledger', () => {}, undefined],
  [
    'a lost operation',
    (ledger) => {
      ledger.begin(insert(9000, 3));
      ledger.apply(9000, [1]);
    },
    /3 rows are gone, of operations 9000/,
  ],
  [
    'rows that nobody wrote',
    (ledger) => ledger.tables.get(PRIMARY)!.groups.delete(firstGroup(ledger)[0]),
    /should not be there/,
  ],
  [
    'another id',
    (ledger) => {
      firstGroup(ledger)[1].firstId! += 1;
    },
    /, not \{"id"/,
  ],
  [
    'an open operation that is stored in part',
    (ledger) => {
      const [n, { rows }] = firstGroup(ledger);
      ledger.tables.get(PRIMARY)!.groups.delete(n);
      ledger.begin(insert(n, rows + 2));
    },
    /rows are gone, of operations/,
  ],
  ['an open operation that is not stored', (ledger) => ledger.begin(insert(9000, 3)), undefined],
  ['a lost document', (ledger) => ledger.documents.set('d9000', 9000), /the documents are/],
  ['a lost answer', (ledger) => ledger.answers.set(9000, 1), /the kept answer of operation 9000 is gone/],
  [
    'a lost table',
    (ledger) => {
      ledger.begin({ n: 9000, kind: 'createTable', table: 't9000' });
      ledger.apply(9000);
    },
    /the tables are/,
  ],
])('the judge gives the right verdict on %s', async (_, change, says) => {
  const judged = judge(`${home}/db`, changed(change));
  if (says === undefined) expect((await judged).rows).toBeGreaterThan(0);
  else await expect(judged).rejects.toThrow(says);
});
