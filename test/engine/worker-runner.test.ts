// Tests compactions in a worker thread, on real files. Needs dist/ (npm run build).

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Database, WorkerRunner } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { rowsOf, simOptions, turn } from '../support/sim-engine.ts';

const BUILT = existsSync(new URL('../../dist/engine/compaction/worker.js', import.meta.url));

let dir: string;
/** Callbacks that the runner deferred. */
let later: (() => void)[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hedgerow-worker-'));
  later = [];
});
afterEach(() => rmSync(dir, { recursive: true }));

function open(): Promise<Database> {
  const runner = new WorkerRunner((callback) => void later.push(callback));
  return Database.open({ ...simOptions(nodeFs, { dir, core: 'release' }), runner });
}

async function fill(database: Database, from: number, to: number): Promise<void> {
  const bulk = database.table().bulk();
  for (let time = from; time < to; time++)
    bulk.add({ event_ts: time, members: [time % 5, 100 + time], properties: { weight: time / 2 } });
  await bulk.commit();
}

test.skipIf(!BUILT)('a compaction in a thread keeps all rows, in files that a later open reads', async () => {
  let database = await open();
  const table = await database.createTable({
    name: 'typed',
    columns: [
      { name: 'a', type: 'TEXT', default: 'x' },
      { name: 'b', type: 'INTEGER', default: 3 },
    ],
  });
  for (let round = 0; round < 4; round++) {
    await fill(database, round * 30, round * 30 + 40);
    await table.insert({ event_ts: round, members: [1], properties: round % 2 ? { a: `ä${round}` } : {} });
    await database.table().delete(round * 30 + 3, [(round * 30 + 3) % 5, 103 + round * 30]);
    const [rows, typed] = [rowsOf(database.table()), rowsOf(table)];
    await database.compact({});
    expect(rowsOf(database.table())).toEqual(rows);
    expect(rowsOf(table)).toEqual(typed);
  }
  const rows = rowsOf(database.table());
  await database.close();
  database = await open();
  expect(rowsOf(database.table())).toEqual(rows);
  await database.close();
});

test.skipIf(!BUILT)('the end of an idle thread does not make the next compaction fail', async () => {
  const database = await open();
  await fill(database, 0, 20);
  await database.compact({});
  for (let round = 1; round < 4; round++) {
    await fill(database, round * 20, round * 20 + 20);
    // The thread is being terminated when the next compaction begins.
    for (const callback of later.splice(0)) callback();
    await database.compact({});
  }
  expect(rowsOf(database.table())).toHaveLength(80);
  await database.close();
});

test.skipIf(!BUILT)(
  'a disk failure in the thread is reported with its code and advice, and changes nothing',
  async () => {
    const database = await open();
    await fill(database, 0, 24);
    // A directory occupies the path of the first new file.
    const inTheWay = `${dir}/tables/1/seg-000000000001.hgs`;
    mkdirSync(inTheWay, { recursive: true });
    const error = await database.createIndex('hyperedges', 'weight').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HedgerowError);
    expect(error).toMatchObject({
      code: 'disk_failed',
      status: 503,
      message: expect.stringMatching(/seg-000000000001.*compact again/),
      fields: { system_code: expect.stringMatching(/^E[A-Z]+$/) },
    });
    expect(database.indexes()).toEqual([]);
    expect(rowsOf(database.table())).toHaveLength(24);
    rmSync(inTheWay, { recursive: true });
    await database.createIndex('hyperedges', 'weight');
    expect(rowsOf(database.table(), { where: [{ column: 'weight', low: 11 }] })).toHaveLength(2);
    await database.close();
  },
);

test.skipIf(!BUILT)('a damaged segment makes its table refuse, with an error that names file and offset', async () => {
  const database = await open();
  await fill(database, 0, 24);
  await database.compact({});
  await database.close();
  const again = await open();
  await again.table().insert({ event_ts: 1, members: [1] });
  const names = readdirSync(`${dir}/tables/1`).sort();
  const path = `${dir}/tables/1/${names[0]}`;
  const handle = nodeFs.open(path, 'write');
  const byte = new Uint8Array(1);
  handle.read(byte, 700);
  byte[0]! ^= 1;
  await handle.write(byte, 700);
  handle.close();
  await expect(again.compact({})).rejects.toMatchObject({ code: 'table_corrupt', fields: { file: path } });
  expect(() => again.table().scan({ format: 'json' })).toThrow(/offset/);
  expect(readdirSync(`${dir}/tables/1`).sort()).toEqual(names);
  await turn();
  await again.close();
});
