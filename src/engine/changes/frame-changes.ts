// Reads the changes in one frame of the log, as text for readers of changes.
//
// An update is a KILL of the old row and, later in the frame, an INSERT of the new row with the
// same id: it becomes one change, with the LSN of the INSERT. So the ids of all inserted rows are
// collected before the KILLs of a frame are read. A TOMBSTONE may delete several rows: the first
// has the LSN of the operation, the others have LSNs of the MORE run at the end of the frame.

import type { LogFrame } from '../../storage/index.ts';
import { columnsOf, type TableDefinition } from '../catalog/catalog.ts';
import { type CatalogChange, changed } from '../catalog/changes.ts';
import { decodeKills, KILL_BYTES, OPERATION, type Run, readRuns } from '../commit/operations.ts';
import type { RowKey } from '../types.ts';
import { decodeBefore, ROWS_AT_ONCE, splitRecords } from './before-rows.ts';
import { type FrameTable, type RowReading, rowTexts, tableOf } from './row-texts.ts';

/** A change: its LSN, and its fields as JSON text without the closing brace. */
export interface ChangeText {
  readonly lsn: number;
  readonly text: string;
}

/** What reading a frame needs. */
export interface FrameReading extends RowReading {
  /** Returns the definition of a table as of an LSN; undefined if it is not known. */
  definitionAt(id: number, lsn: number): TableDefinition | undefined;
  /** If given, only changes of this table are returned. */
  readonly tableId: number | undefined;
}

/**
 * Yields the changes of a frame in LSN order, some at a time; a step takes a few ms at most. Some
 * changes up to `afterLsn` may be left out.
 */
export function* changesOf(
  frame: LogFrame,
  reading: FrameReading,
  afterLsn: number,
): Generator<ChangeText[], void, void> {
  const runs = [...readRuns(frame.payload, frame.operations, `log frame at LSN ${frame.firstLsn}`)];
  const reader = new FrameReader(frame, runs, reading, afterLsn);
  let lsn = frame.firstLsn;
  let before: Uint8Array | undefined;
  for (const run of runs) {
    const { tableId } = reading;
    if (run.kind === OPERATION.before) before = run.bytes;
    else {
      if (run.kind === OPERATION.more) yield reader.more(lsn);
      else if (run.kind === OPERATION.catalog) yield reader.catalog(run, lsn);
      else if (tableId === undefined || run.tableId === tableId) yield* reader.rows(run, lsn, before);
      before = undefined;
    }
    lsn += run.operations;
  }
}

class FrameReader {
  readonly #frame: LogFrame;
  readonly #runs: readonly Run[];
  readonly #reading: FrameReading;
  readonly #afterLsn: number;
  readonly #tables = new Map<number, FrameTable | undefined>();
  /** By table and id: the LSN of the last row that the frame inserts. Undefined until needed. */
  #inserted: Map<string, number> | undefined;
  /** By table and id: the old row of an update whose new row comes later. */
  readonly #updated = new Map<string, string>();
  /** Rows that share a tombstone with another one, in order. */
  readonly #more: { table: string; id: number; before: string }[] = [];

  constructor(frame: LogFrame, runs: readonly Run[], reading: FrameReading, afterLsn: number) {
    this.#frame = frame;
    this.#runs = runs;
    this.#reading = reading;
    this.#afterLsn = afterLsn;
  }

  rows(run: Run, lsn: number, before: Uint8Array | undefined): Generator<ChangeText[], void, void> {
    if (run.kind === OPERATION.insert) return this.#inserts(run, lsn);
    if (run.kind === OPERATION.kill) return this.#kills(run, lsn, before);
    if (run.kind === OPERATION.tombstone) return this.#tombstones(run, lsn, before);
    return nothing();
  }

  *#inserts({ tableId, bytes }: Run, firstLsn: number): Generator<ChangeText[], void, void> {
    const table = this.#table(tableId);
    if (table === undefined) return;
    let lsn = firstLsn;
    for (const records of chunks(splitRecords(bytes), bytesOf)) {
      // A reader that goes on inside a large commit must not make the texts before it again.
      if (lsn + records.length - 1 <= this.#afterLsn && this.#updated.size === 0) {
        lsn += records.length;
        yield [];
        continue;
      }
      const rows = rowTexts(records, table, this.#reading);
      const { insert, update } = table.ops;
      yield rows.map((row, place) => {
        const id = idOf(records[place]!);
        const key = keyOf(tableId, id);
        const before = this.#updated.get(key);
        if (before === undefined) return this.#change(lsn++, table.name, `"${insert}","id":${id},"row":${row}`);
        this.#updated.delete(key);
        return this.#change(lsn++, table.name, `"${update}","id":${id}${before},"row":${row}`);
      });
    }
  }

  *#kills(run: Run, firstLsn: number, before: Uint8Array | undefined): Generator<ChangeText[], void, void> {
    const { tableId } = run;
    const table = this.#table(tableId);
    if (table === undefined) return;
    const inserted = yield* this.#insertedIds();
    let lsn = firstLsn;
    for (const some of chunks(together(keysOf(run), before), bytesOfDeath)) {
      const texts = this.#texts(some, table);
      const changes: ChangeText[] = [];
      for (const { operation: key } of some) {
        const old = texts.next().value?.[0];
        const text = old === undefined ? '' : `,"before":${old}`;
        const name = keyOf(tableId, key.id);
        if ((inserted.get(name) ?? 0) > lsn) this.#updated.set(name, text);
        else changes.push(this.#change(lsn, table.name, `"${table.ops.delete}","id":${key.id}${text}`));
        lsn++;
      }
      yield changes;
    }
  }

  *#tombstones(run: Run, firstLsn: number, before: Uint8Array | undefined): Generator<ChangeText[], void, void> {
    const table = this.#table(run.tableId);
    if (table === undefined) return;
    let lsn = firstLsn;
    for (const some of chunks(together(splitRecords(run.bytes), before), bytesOfDeath)) {
      const texts = this.#texts(some, table);
      const changes: ChangeText[] = [];
      for (const { records } of some) {
        for (const [place, text] of (texts.next().value ?? []).entries()) {
          const id = idOf(records[place]!);
          if (place > 0) this.#more.push({ table: table.name, id, before: text });
          else changes.push(this.#change(lsn, table.name, `"delete","id":${id},"before":${text}`));
        }
        lsn++;
      }
      yield changes;
    }
  }

  /** Returns the changes of the rows that share a tombstone with another one. */
  more(firstLsn: number): ChangeText[] {
    return this.#more.map(({ table, id, before }, place) =>
      this.#change(firstLsn + place, table, `"delete","id":${id},"before":${before}`),
    );
  }

  catalog(run: Run, lsn: number): ChangeText[] {
    const change = JSON.parse(Buffer.from(run.bytes).toString()) as CatalogChange;
    const id = change.op === 'create_table' ? change.table.id : change.id;
    const { tableId, definitionAt } = this.#reading;
    if (tableId !== undefined && id !== tableId) return [];
    const before = change.op === 'create_table' ? change.table : definitionAt(id, lsn - 1);
    if (before === undefined) return [];
    const after = change.op === 'create_table' || change.op === 'drop_table' ? before : changed(before, change);
    return [this.#change(lsn, after.name, catalogText(change, before, after))];
  }

  #change(lsn: number, table: string, rest: string): ChangeText {
    const { seconds } = this.#frame;
    return { lsn, text: `{"lsn":${lsn},"ts":${seconds},"table":${JSON.stringify(table)},"op":${rest}` };
  }

  #table(id: number): FrameTable | undefined {
    if (this.#tables.has(id)) return this.#tables.get(id);
    const definition = this.#reading.definitionAt(id, this.#frame.firstLsn);
    const table = definition && tableOf(definition);
    this.#tables.set(id, table);
    return table;
  }

  /** Yields the texts of the deleted rows of each operation. */
  *#texts(some: readonly Death<unknown>[], table: FrameTable): Generator<string[], void, void> {
    const all = some.flatMap(({ records }) => records);
    const texts: string[] = [];
    for (const records of chunks(all, bytesOf)) texts.push(...rowTexts(records, table, this.#reading));
    let at = 0;
    for (const { records } of some) {
      yield texts.slice(at, at + records.length);
      at += records.length;
    }
  }

  *#insertedIds(): Generator<ChangeText[], ReadonlyMap<string, number>, void> {
    if (this.#inserted !== undefined) return this.#inserted;
    const inserted = new Map<string, number>();
    let lsn = this.#frame.firstLsn;
    for (const { kind, tableId, operations, bytes } of this.#runs) {
      const records = kind === OPERATION.insert ? splitRecords(bytes) : [];
      let place = 0;
      for (const record of records) {
        inserted.set(keyOf(tableId, idOf(record)), lsn + place++);
        if (place % ROWS_AT_ONCE === 0) yield [];
      }
      lsn += operations;
    }
    this.#inserted = inserted;
    return inserted;
  }
}

/** An operation that deletes rows, with the records of these rows. */
interface Death<T> {
  readonly operation: T;
  readonly records: readonly Uint8Array[];
}

/** Pairs operations with the rows that they delete; without BEFORE run, the rows are not known. */
function* together<T>(operations: Iterable<T>, before: Uint8Array | undefined): Generator<Death<T>, void, void> {
  const rows = before === undefined ? undefined : decodeBefore(before);
  for (const operation of operations) yield { operation, records: rows?.next().value ?? [] };
}

/** Records that are written as text in one step have at most about this many bytes. */
const BYTES_AT_ONCE = 2 ** 18;

/** Yields the items in groups of at most ROWS_AT_ONCE items and about BYTES_AT_ONCE bytes. */
function* chunks<T>(items: Iterable<T>, sizeOf: (item: T) => number): Generator<T[], void, void> {
  let some: T[] = [];
  let bytes = 0;
  for (const item of items) {
    some.push(item);
    bytes += sizeOf(item);
    if (some.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield some;
    some = [];
    bytes = 0;
  }
  if (some.length > 0) yield some;
}

const bytesOf = (record: Uint8Array): number => record.length;

function bytesOfDeath({ records }: Death<unknown>): number {
  return records.reduce((sum, { length }) => sum + length, 0);
}

/** Yields the keys of a KILL run. */
function* keysOf(run: Run): Generator<RowKey, void, void> {
  for (let from = 0; from < run.operations; from += ROWS_AT_ONCE) {
    const operations = Math.min(ROWS_AT_ONCE, run.operations - from);
    const bytes = run.bytes.subarray(from * KILL_BYTES, (from + operations) * KILL_BYTES);
    yield* decodeKills({ ...run, operations, bytes }, 'a log frame', from * KILL_BYTES);
  }
}

function* nothing(): Generator<ChangeText[], void, void> {}

function catalogText(change: CatalogChange, before: TableDefinition, after: TableDefinition): string {
  const { table } = tableOf(before).ops;
  const nameOf = (id: number) => {
    const column = columnsOf(before).columns.find((each) => each.id === id);
    return JSON.stringify(column?.name ?? null);
  };
  switch (change.op) {
    case 'create_table':
      return `"${table}_created"${rolesText(after)},"columns":${columnsText(after)}`;
    case 'drop_table':
      return `"${table}_dropped"`;
    case 'create_index':
      return `"index_created","column":${nameOf(change.column)}`;
    case 'drop_index':
      return `"index_dropped","column":${nameOf(change.column)}`;
    case 'create_text_index':
      return `"index_created","kind":"text","columns":[${change.text.columns.map(nameOf)}],"language":${JSON.stringify(change.text.language)}`;
    case 'drop_text_index':
      return '"index_dropped","kind":"text"';
    case 'drop_buckets':
      return `"buckets_dropped","before_ts":${change.beforeTs}`;
    case 'rename_table':
      return `"${table}_altered","renamed_from":${JSON.stringify(before.name)},"columns":${columnsText(after)}`;
    default:
      return `"${table}_altered","columns":${columnsText(after)}`;
  }
}

/** Returns the field `roles` of a table that has some. */
function rolesText({ roles }: TableDefinition): string {
  return roles === undefined ? '' : `,"roles":${JSON.stringify(roles)}`;
}

function columnsText(definition: TableDefinition): string {
  return JSON.stringify(
    columnsOf(definition).columns.map(({ name, type, default: missing }) => ({ name, type, default: missing })),
  );
}

export function idOf(record: Uint8Array): number {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  return view.getInt32(20, true) * 2 ** 32 + view.getUint32(16, true);
}

function keyOf(tableId: number, id: RowKey['id']): string {
  return `${tableId} ${id}`;
}
