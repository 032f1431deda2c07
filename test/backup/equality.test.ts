// A backup that is made during writes, compactions and changes of tables restores exactly the state
// at its LSN: rows, ids, documents and stored answers.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database, Table } from '../../src/engine/index.ts';
import { Random } from '../support/random.ts';
import { openSmall, removeDir, restore, rowTexts, temporaryDir, verify } from './support.ts';

/** Writes per second. */
const RATE = 2000;
/** Duration of the test. Backups, compactions and new tables are spread over it. */
const SECONDS = Number(process.env.HEDGEROW_BACKUP_SECONDS ?? 3);
const WRITES = RATE * SECONDS;
const BACKUPS = 4;
const COMPACTIONS = 7;
const TABLES = 3;
/** Rows that exist before the first backup, so that copying takes a while. */
const FIRST_ROWS = 6000;

/** The effect of one acknowledged commit, at its LSN. */
interface Effect {
  lsn: number;
  apply: (state: State) => void;
}

interface Row {
  id: number;
  event_ts: number;
  members: number[];
}

/** The whole database as a naive model. */
class State {
  readonly tables = new Map<string, { rows: Map<number, Row>; ids: Map<string, Set<number>>; nextId: number }>();
  readonly documents = new Map<string, unknown>();
  readonly answers = new Set<string>();

  createTable(name: string): void {
    this.tables.set(name, { rows: new Map(), ids: new Map(), nextId: 1 });
  }

  insert(name: string, row: Row): void {
    const table = this.tables.get(name)!;
    const key = keyOf(row.event_ts, row.members);
    table.rows.set(row.id, row);
    table.ids.set(key, (table.ids.get(key) ?? new Set()).add(row.id));
    table.nextId = Math.max(table.nextId, row.id + 1);
  }

  delete(name: string, eventTs: number, members: readonly number[]): void {
    const { rows, ids } = this.tables.get(name)!;
    for (const id of ids.get(keyOf(eventTs, members)) ?? []) rows.delete(id);
    ids.delete(keyOf(eventTs, members));
  }
}

function keyOf(eventTs: number, members: readonly number[]): string {
  return `${eventTs}:${members.join()}`;
}

function stateAt(effects: readonly Effect[], lsn: number): State {
  const state = new State();
  state.createTable('hyperedges');
  for (const effect of [...effects].sort((a, b) => a.lsn - b.lsn)) if (effect.lsn <= lsn) effect.apply(state);
  return state;
}

/** Writes continuously and records what was acknowledged. */
class Writer {
  readonly effects: Effect[] = [];
  readonly #database: Database;
  readonly #random = new Random(7);
  readonly #pending = new Set<Promise<unknown>>();
  #written: { table: string; row: Row }[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  get count(): number {
    return this.effects.length;
  }

  /** Starts `count` single writes at the same time. */
  burst(count: number): void {
    for (let i = 0; i < count; i++) this.#keep(this.#write());
  }

  async settle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  #keep(work: Promise<void>): void {
    const kept: Promise<unknown> = work.finally(() => this.#pending.delete(kept));
    this.#pending.add(kept);
  }

  #write(): Promise<void> {
    const kind = this.#random.below(100);
    if (kind < 80) return this.#insert(this.#anyTable());
    if (kind < 90) return this.#delete();
    if (kind < 94) return this.#transaction();
    if (kind < 97) return this.#document();
    return this.#answer();
  }

  /** Inserts `count` rows in one commit. */
  async load(count: number): Promise<void> {
    const bulk = this.#database.table().bulk();
    const edges = Array.from({ length: count }, () => this.#edge());
    for (const edge of edges) bulk.add(edge);
    const { firstId, lsn } = await bulk.commit();
    for (const [index, edge] of edges.entries()) this.#noteInsert('hyperedges', { id: firstId + index, ...edge }, lsn);
  }

  #anyTable(): Table {
    const tables = this.#database.tables();
    return tables[this.#random.below(tables.length)]!;
  }

  #edge() {
    return { event_ts: this.#random.below(5000), members: [this.#random.below(50), 100 + this.#random.below(5)] };
  }

  async #insert(table: Table): Promise<void> {
    const { row, lsn } = await table.insert(this.#edge());
    this.#noteInsert(table.name, row, lsn);
  }

  #noteInsert(table: string, { id, event_ts, members }: Row, lsn: number): void {
    const row = { id, event_ts, members };
    this.#written.push({ table, row });
    this.effects.push({ lsn, apply: (state) => state.insert(table, row) });
  }

  async #delete(): Promise<void> {
    const victim = this.#written[this.#random.below(this.#written.length)];
    if (victim === undefined) return;
    const { table, row } = victim;
    const { lsn } = await this.#database.table(table).delete(row.event_ts, row.members);
    this.effects.push({ lsn, apply: (state) => state.delete(table, row.event_ts, row.members) });
  }

  /** Makes two inserts in one transaction. */
  async #transaction(): Promise<void> {
    const tables = [this.#anyTable(), this.#anyTable()];
    const transaction = this.#database.begin();
    for (const table of tables) transaction.insert(table, this.#edge());
    const { lsn, results } = await transaction.commit();
    for (const [index, result] of results.entries())
      this.#noteInsert(tables[index]!.name, (result as { row: Row }).row, lsn);
  }

  async #document(): Promise<void> {
    const id = `d${this.#random.below(20)}`;
    const value = this.#random.chance(0.2) ? null : { at: this.effects.length };
    const lsn = await this.#database.documents.change([{ store: 'test', id, value }]);
    this.effects.push({
      lsn,
      apply: ({ documents }) => (value === null ? documents.delete(id) : documents.set(id, value)),
    });
  }

  /** Makes an insert whose answer is stored in the same frame. */
  async #answer(): Promise<void> {
    const id = `answer ${this.effects.length} ${this.#random.below(1e9)}`;
    const entry = { id, bodyHash: 'h', status: 201, contentType: 'application/json', body: '{}', at: Date.now() };
    const table = this.#anyTable();
    const { row, lsn } = await table.insert(this.#edge(), () => entry);
    this.#noteInsert(table.name, row, lsn);
    this.effects.push({ lsn, apply: ({ answers }) => answers.add(id) });
  }

  /** Creates a table. The LSN of the creation is between those of the writes before and after. */
  async createTable(number: number): Promise<void> {
    const name = `made_${number}`;
    await this.#database.createTable({ name, bucketSeconds: 60 });
    const lsn = this.#database.table(name).changedLsn;
    this.effects.push({ lsn, apply: (state) => state.createTable(name) });
  }
}

let home: string;
beforeEach(() => {
  home = temporaryDir();
});
afterEach(() => removeDir(home));

test(
  'a backup that is made during 2,000 writes per second restores the state at its LSN',
  async () => {
    const database = await openSmall(`${home}/db`);
    const writer = new Writer(database);
    await writer.load(FIRST_ROWS);
    await database.compact({});
    const backups: Promise<{ path: string; lsn: number; lsnAtEnd: number }>[] = [];
    const compactions: Promise<unknown>[] = [];
    let tables = 0;
    const begunMs = performance.now();
    for (let written = 0; written < WRITES; ) {
      const due = Math.min(WRITES, Math.ceil(((performance.now() - begunMs) / 1000) * RATE)) - written;
      writer.burst(due);
      written += due;
      const share = written / WRITES;
      if (share * TABLES > tables + 0.5) await writer.createTable(++tables);
      if (share * COMPACTIONS > compactions.length + 0.5) compactions.push(database.compact({}));
      if (share * BACKUPS > backups.length + 0.5) {
        const number = backups.length;
        const backup = database.backup({ dir: `${home}/to/${number}`, compactFirst: number % 2 === 1 });
        backups.push(backup.then(({ path, lsn }) => ({ path, lsn, lsnAtEnd: database.lastLsn })));
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const elapsedMs = performance.now() - begunMs;
    await writer.settle();
    await Promise.all(compactions);
    const made = await Promise.all(backups);
    await database.close();
    const rate = Math.round((writer.count - FIRST_ROWS) / (elapsedMs / 1000));
    if (process.env.HEDGEROW_BACKUP_SECONDS !== undefined) console.log(`${rate} commits a second`, made);
    expect(made.length).toBe(BACKUPS);
    const others = made.filter(({ lsn, lsnAtEnd }) => lsnAtEnd > lsn);
    expect(others.length, 'writes went on during backups').toBeGreaterThan(0);
    for (const [index, { path, lsn }] of made.entries())
      await expectRestores(path, `${home}/restored-${index}`, lsn, stateAt(writer.effects, lsn));
  },
  60_000 + SECONDS * 20_000,
);

async function expectRestores(path: string, dir: string, lsn: number, state: State): Promise<void> {
  const restored = await restore(path, dir);
  expect(restored.lsn).toBe(lsn);
  expect(restored.tables).toEqual([...state.tables.keys()].sort());
  expect((await verify(dir)).problems).toEqual([]);
  const database = await openSmall(dir);
  try {
    expect(database.lastLsn).toBe(lsn);
    expect(database.tables().map((table) => table.name)).toEqual([...state.tables.keys()].sort());
    for (const [name, { rows, nextId }] of state.tables) {
      const table = database.table(name);
      const wanted = [...rows.values()].sort((a, b) => a.event_ts - b.event_ts || a.id - b.id);
      const found = rowTexts(table).map((line) => JSON.parse(line) as Row);
      expect(found.map(({ id, event_ts, members }) => ({ id, event_ts, members }))).toEqual(wanted);
      expect((await table.insert({ event_ts: 1, members: [1] })).row.id).toBe(nextId);
    }
    expect(new Map(database.documents.entries('test'))).toEqual(state.documents);
    for (const id of state.answers) expect(database.replays.find(id)?.status).toBe(201);
  } finally {
    await database.close();
  }
}
