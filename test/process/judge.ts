// Opens a directory after a crash and compares it with the ledger. Each open operation (begun, but
// not acknowledged) must be stored completely or not at all. Everything else must be exactly as the
// ledger expects.

import { loadCore } from '../../src/core/index.ts';
import { Database, InlineRunner, type Table } from '../../src/engine/index.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import {
  answerKey,
  changedBy,
  type ExpectedRow,
  type Ledger,
  NOW_SECONDS,
  type Operation,
  PRIMARY,
  rowOf,
} from './ledger.mjs';

/**
 * Ids and contents of kept answers and documents. The service and the embedded writer use different
 * ids and contents.
 */
export interface AnswerNames {
  idOf(n: number): string;
  /** Throws if the text is not the answer to the operation. */
  check(n: number, firstId: number | null, body: string): void;
  store: string;
  documentOf(name: string): string;
  /** Returns the time of the writer's clock in epoch milliseconds. Answers are kept for a day. */
  now(): number;
}

export const EMBEDDED_ANSWERS: AnswerNames = {
  idOf: answerKey,
  check: (n, _firstId, body) => must(body === `answer ${n}`, `the answer of operation ${n} is ${body}`),
  store: 'test',
  documentOf: (name) => name,
  now: () => NOW_SECONDS * 1000,
};

export interface Judged {
  rows: number;
  tables: number;
  /** Number of open operations that were found in the database. */
  found: number;
  /** Number of open operations that were not found in the database. */
  absent: number;
}

interface SeenRow {
  id: number;
  event_ts: number;
  members: number[];
  weight: number;
  formation: string | null;
}

interface SeenTable {
  table: Table;
  rows: Map<number, SeenRow>;
}

export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/**
 * Compares the database in `dir` with the ledger. Throws an error that describes what is lost,
 * duplicated or wrong. Afterwards the ledger has no open operations.
 */
export async function judge(
  dir: string,
  ledger: Ledger,
  options: { names?: AnswerNames; compact?: boolean } = {},
): Promise<Judged> {
  const names = options.names ?? EMBEDDED_ANSWERS;
  const database = await open(dir, names.now);
  try {
    const judged = compare(database, ledger, names);
    if (options.compact === true) {
      await database.compact({});
      compare(database, ledger, names);
    }
    return judged;
  } finally {
    await database.close();
  }
}

const core = loadCore();

function open(dir: string, now: () => number): Promise<Database> {
  return Database.open({
    dir,
    fs: nodeFs,
    runner: new InlineRunner(nodeFs, core),
    now,
    nowUs: () => performance.now() * 1000,
    schedule: (callback, delayMs) => void setTimeout(callback, delayMs).unref(),
    primaryTable: PRIMARY,
    maxMembers: 64,
    durability: 'fsync',
    memoryBudgetBytes: 2 ** 26,
    segmentRows: 1000,
    logFileBytes: 2 ** 16,
  });
}

function compare(database: Database, ledger: Ledger, names: AnswerNames): Judged {
  const seen = new Map(database.tables().map((table) => [table.name, { table, rows: rowsIn(table) }]));
  const decided = { found: 0, absent: 0 };
  for (const operation of [...ledger.open.values()].sort((a, b) => a.n - b.n)) {
    if (isThere(operation, seen, database, names)) {
      ledger.apply(operation.n, firstIdsOf(operation, seen));
      decided.found++;
    } else {
      ledger.forget(operation.n);
      decided.absent++;
    }
  }
  compareTables(ledger, seen);
  compareRest(database, ledger, names);
  const rows = [...seen.values()].reduce((sum, { rows: each }) => sum + each.size, 0);
  return { rows, tables: seen.size, ...decided };
}

function rowsIn(table: Table): Map<number, SeenRow> {
  const rows = new Map<number, SeenRow>();
  const ids = new Set<number>();
  let before: SeenRow | undefined;
  for (const row of scanned(table, {})) {
    must(
      before === undefined ||
        before.event_ts < row.event_ts ||
        (before.event_ts === row.event_ts && before.id < row.id),
      `table ${table.name}: row ${row.id} is out of order`,
    );
    must(!rows.has(row.weight), `table ${table.name}: tag ${row.weight} is there twice`);
    must(!ids.has(row.id), `table ${table.name}: id ${row.id} is there twice`);
    rows.set(row.weight, row);
    ids.add(row.id);
    before = row;
  }
  must(table.rowCount === rows.size, `table ${table.name} counts ${table.rowCount} rows and has ${rows.size}`);
  return rows;
}

function scanned(table: Table, bounds: { nodes?: number[] }): SeenRow[] {
  const scan = table.scan({ format: 'ndjson', ...bounds });
  const slices: Uint8Array[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next()) slices.push(Uint8Array.from(slice));
  const lines = Buffer.concat(slices).toString().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as SeenRow);
}

function firstIdsOf(operation: Operation, seen: Map<string, SeenTable>): (number | undefined)[] {
  return (operation.parts ?? []).map((part) => {
    for (let index = 0; index < part.rows; index++) {
      const row = seen.get(part.table)?.rows.get(operation.n * 1000 + part.start + index);
      if (row !== undefined) return row.id - index;
    }
    return undefined;
  });
}

/**
 * Returns whether the database contains any effect of an open operation. The comparison that
 * follows checks that it then contains all of the effects.
 */
function isThere(
  operation: Operation,
  seen: Map<string, SeenTable>,
  database: Database,
  { idOf, store, documentOf }: AnswerNames,
): boolean {
  const { n, kind, table = '', column } = operation;
  const place = seen.get(table);
  switch (kind) {
    case 'insert':
    case 'transaction':
      return (
        firstIdsOf(operation, seen).some((id) => id !== undefined) ||
        (operation.keyed === true && database.replays.find(idOf(n)) !== undefined) ||
        (operation.deletes ?? []).some((row) => seen.get(row.table)?.rows.has(row.tag) === false) ||
        (operation.updates ?? []).some((row) => seen.get(row.table)?.rows.get(row.tag)?.formation === changedBy(n))
      );
    case 'delete':
      return place?.rows.has(operation.tag!) === false;
    case 'createTable':
      return place !== undefined;
    case 'dropTable':
      return place === undefined;
    case 'addColumn':
      return hasColumn(place, column);
    case 'dropColumn':
      return !hasColumn(place, column);
    case 'putDocument':
      return database.documents.get(store, documentOf(operation.document!)) !== undefined;
    case 'removeDocument':
      return database.documents.get(store, documentOf(operation.document!)) === undefined;
    case 'createIndex':
      return database.indexes(table).length > 0;
    case 'dropIndex':
      return database.indexes(table).length === 0;
    case 'threshold':
      return place?.table.item().compact_threshold === operation.threshold;
    case 'ttl':
      return place !== undefined && [...place.rows.values()].every((row) => row.event_ts >= 1_000_000);
    default:
      return true;
  }
}

function hasColumn(place: SeenTable | undefined, column: string | undefined): boolean {
  return place?.table.item().columns.some(({ name }) => name === column) === true;
}

function compareTables(ledger: Ledger, seen: Map<string, SeenTable>): void {
  const [names, expected] = [[...seen.keys()].sort(), [...ledger.tables.keys()].sort()];
  must(names.join() === expected.join(), `the tables are ${names}, not ${expected}`);
  for (const [name, { columns, index, threshold }] of ledger.tables) {
    const { table, rows } = seen.get(name)!;
    const item = table.item();
    const columnNames = item.columns.map((column) => column.name).join();
    const wanted = columns.map((column) => column.name).join();
    must(columnNames === wanted, `table ${name} has the columns ${columnNames}, not ${wanted}`);
    must(
      table.definition.indexes.length > 0 === index,
      `table ${name}: ${index ? 'the' : 'a'} index is ${index ? 'gone' : 'there'}`,
    );
    must(
      threshold === null || item.compact_threshold === threshold,
      `table ${name} has the threshold ${item.compact_threshold}, not ${threshold}`,
    );
    compareRows(
      name,
      rows,
      ledger.rowsOf(name),
      Object.fromEntries(columns.map((column) => [column.name, column.value])),
    );
    lookUp(table, rows);
  }
}

function compareRows(
  name: string,
  rows: Map<number, SeenRow>,
  expected: Map<number, ExpectedRow>,
  columns: Record<string, number>,
): void {
  const lost = [...expected.keys()].filter((tag) => !rows.has(tag));
  must(lost.length === 0, `table ${name}: ${lost.length} rows are gone, of operations ${operationsOf(lost)}`);
  const wrong = [...rows.keys()].filter((tag) => !expected.has(tag));
  must(
    wrong.length === 0,
    `table ${name}: ${wrong.length} rows should not be there, of operations ${operationsOf(wrong)}`,
  );
  for (const [tag, { old, formation, id }] of expected) {
    const row = rows.get(tag)!;
    const { event_ts, members, weight } = rowOf(tag, old);
    const sorted = [...new Set(members)].sort((a, b) => a - b);
    const wanted = JSON.stringify({
      id: id ?? row.id,
      event_ts,
      members: sorted,
      weight,
      mean_dist_m: null,
      formation,
      ...columns,
    });
    must(JSON.stringify(row) === wanted, `table ${name}: ${JSON.stringify(row)}, not ${wanted}`);
  }
}

function operationsOf(tags: readonly number[]): string {
  return [...new Set(tags.map((tag) => Math.floor(tag / 1000)))].slice(0, 20).join(', ');
}

/** Checks that some of the rows are also found by one of their nodes. */
function lookUp(table: Table, rows: Map<number, SeenRow>): void {
  const tags = [...rows.keys()];
  for (let place = 0; place < tags.length; place += Math.max(1, Math.floor(tags.length / 5))) {
    const row = rows.get(tags[place]!)!;
    const found = scanned(table, { nodes: [row.members[2]!] });
    must(
      found.length === 1 && JSON.stringify(found[0]) === JSON.stringify(row),
      `table ${table.name}: node ${row.members[2]} finds ${found.length} rows, not the one with id ${row.id}`,
    );
  }
}

function compareRest(database: Database, ledger: Ledger, { idOf, check, store, documentOf }: AnswerNames): void {
  const documents = database.documents.entries(store).map(([id]) => id);
  const expected = [...ledger.documents.keys()].map(documentOf);
  must([...documents].sort().join() === [...expected].sort().join(), `the documents are ${documents}, not ${expected}`);
  for (const [n, firstId] of ledger.answers) {
    const entry = database.replays.find(idOf(n));
    must(entry !== undefined, `the kept answer of operation ${n} is gone`);
    must(entry.body !== null, `the answer of operation ${n} was not kept`);
    check(n, firstId, entry.body);
  }
  must(
    database.tables().some((table) => table.name === PRIMARY),
    'the primary table is gone',
  );
}
