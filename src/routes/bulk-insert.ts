// Bulk insert: a body with one JSON edge per line, applied entirely or not at all.

import { isUtf8 } from 'node:buffer';
import {
  type Attach,
  type BulkOutcome,
  type CommitOutcome,
  type Database,
  IdRanges,
  type Table,
  type WrittenIds,
} from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { jsonProblem, jsonTextReply, type Reply, WriteAnswer } from '../http/index.ts';
import { requireObject, textStart } from '../http/json-body.ts';
import { type CheckedEdge, readEdge, tableNameOf } from '../model/edge.ts';
import type { Call } from './application.ts';

const NEWLINE = 10;
/** Maximum number of lines read in one step, so that a step stays well within the time slice. */
const LINES_PER_STEP = 200;
/** Number of bytes after which a step ends, even if it has read fewer lines. */
export const BYTES_PER_STEP = 256 * 1024;
/**
 * Size of the text that the core reads in one call, which takes it a fraction of a millisecond. A
 * line that is longer is left to JSON.parse.
 */
const TEXT_BYTES = 64 * 1024;
/** Maximum number of lines that are left to JSON.parse before the core is tried again. */
const MOST_UNTRIED = 256;
/** Maximum length of one line in bytes. JSON.parse takes about ten milliseconds for this length. */
export const MOST_LINE_BYTES = 8 * 2 ** 20;
const PLACE: readonly string[] = ['body'];

interface Inserted {
  inserted: number;
  first_id: number | null;
  last_id: number | null;
}

type Tables = ReadonlyMap<string, Inserted>;

/** Collects checked edges until the commit. */
interface Sink {
  /** Returns false if this sink cannot take edges of `table`. */
  add(table: Table, edge: CheckedEdge): boolean;
  /** Adds the plain lines at the start of a text; absent if the sink only takes edges. */
  addLines?(text: Uint8Array): { readonly rows: number; readonly bytes: number };
  commit(attach: Attach<Tables> | undefined): Promise<{ lsn: number; tables: Tables }>;
  discard(): void;
}

export async function bulkInsert(call: Call, tableName: string | undefined): Promise<Reply> {
  const table = call.database.table(tableName);
  let sink: Sink = bulkSink(table);
  try {
    // Lines that name other tables are rare. Only for them is the body read again, into a
    // transaction, which is slower.
    if (!(await addLines(call, table, sink))) {
      sink.discard();
      sink = transactionSink(call.database);
      await addLines(call, table, sink);
    }
  } catch (error) {
    sink.discard();
    throw error;
  }
  const { name } = table;
  const answer = new WriteAnswer<Tables>(call.once, 201, (tables) => insertedBody(name, tables), undefined, rangesOf);
  const { lsn, tables } = await sink.commit(answer.attach);
  return jsonTextReply(201, answer.body(tables), lsn, { audit: { table: [...tables.keys()].join(',') } });
}

/**
 * Returns the ranges of the new ids, by table. Ids between the first and the last of a table may
 * belong to other writes.
 */
function rangesOf(tables: Tables): WrittenIds | undefined {
  const ranges = new IdRanges();
  for (const [table, { first_id, last_id }] of tables)
    if (first_id !== null && last_id !== null) ranges.add(table, first_id, last_id);
  return ranges.written();
}

function insertedBody(name: string, tables: Tables): string {
  let inserted = 0;
  for (const one of tables.values()) inserted += one.inserted;
  const own = tables.get(name);
  const answer = { table: name, inserted, first_id: own?.first_id ?? null, last_id: own?.last_id ?? null };
  const onlyOwn = own !== undefined && tables.size === 1;
  return JSON.stringify(onlyOwn ? answer : { ...answer, tables: Object.fromEntries(tables) });
}

/** Reads every line into the sink, in steps. Returns false if the sink refused a table. */
async function addLines(call: Call, table: Table, sink: Sink): Promise<boolean> {
  const { body, database } = call;
  const isText = isUtf8(body);
  let offset = textStart(body);
  let line = 0;
  let count = 0;
  let refused = false;
  // After a line that the core does not read, more and more lines go to JSON.parse, so that a body
  // of such lines is not copied into the core once for each line.
  let untried = 0;
  let patience = 1;
  const readPlain = (): void => {
    const text = wholeLines(body, offset);
    const { rows, bytes } = sink.addLines!(text);
    offset += bytes;
    line += rows;
    count += rows;
    if (bytes === text.length && rows > 0) patience = 1;
    else {
      untried = patience;
      patience = Math.min(2 * patience, MOST_UNTRIED);
    }
  };
  const step = (): boolean => {
    const stop = offset + BYTES_PER_STEP;
    for (let i = 0; i < LINES_PER_STEP && offset < stop; i++) {
      if (offset >= body.length) return false;
      if (isText && sink.addLines !== undefined && untried === 0) {
        readPlain();
        continue;
      }
      if (untried > 0) untried -= 1;
      const newline = body.indexOf(NEWLINE, offset);
      const end = newline < 0 ? body.length : newline;
      line += 1;
      if (end - offset > MOST_LINE_BYTES) throw atLine(tooLong(), line);
      if (!isText && !isUtf8(body.subarray(offset, end))) throw atLine(notUtf8(), line);
      const text = body.toString('utf8', offset, end);
      offset = end + 1;
      if (isBlank(text)) continue;
      if (!addLine(database, table, sink, text, line)) {
        refused = true;
        return false;
      }
      count += 1;
    }
    return true;
  };
  if (step()) await call.services.scheduler.run('body', step);
  if (refused) return false;
  if (count === 0) throw refusal('invalid_input', 'The body contains no edge; send one JSON edge per line.');
  return true;
}

/**
 * Returns the whole lines from `offset` on, TEXT_BYTES at most; nothing if the first one is longer.
 */
function wholeLines(body: Buffer, offset: number): Buffer {
  const most = offset + TEXT_BYTES;
  if (most >= body.length) return body.subarray(offset);
  return body.subarray(offset, body.lastIndexOf(NEWLINE, most - 1) + 1);
}

function addLine(database: Database, table: Table, sink: Sink, text: string, line: number): boolean {
  try {
    const source = requireObject(parseLine(text), [...PLACE]);
    const name = tableNameOf(source, PLACE);
    const target = name === undefined ? table : database.table(name);
    return sink.add(target, readEdge(source, target, PLACE));
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.status >= 500) throw error;
    throw atLine(error, line);
  }
}

export function notUtf8(): HedgerowError {
  const detail = 'The line is not valid UTF-8.';
  return refusal('invalid_json', detail, { errors: [{ loc: [...PLACE], msg: detail }] });
}

export function tooLong(): HedgerowError {
  const detail = `The line is longer than ${MOST_LINE_BYTES / 2 ** 20} MB; send shorter ones.`;
  return refusal('invalid_json', detail, { errors: [{ loc: [...PLACE], msg: detail }] });
}

/** Lines with more characters than this are checked before they are parsed (json-depth.ts). */
const LONG_LINE = 100_000;

/** Returns the JSON value of a line. Throws `invalid_json`. */
export function parseLine(text: string): unknown {
  const problem = text.length > LONG_LINE ? jsonProblem(Buffer.from(text)) : undefined;
  if (problem !== undefined) throw refusal('invalid_json', `It ${problem}.`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusal('invalid_json', `Not valid JSON: ${(error as Error).message}.`);
  }
}

/**
 * Returns the same error with the line number (from 1) in its message, its fields and its
 * locations.
 */
export function atLine(error: HedgerowError, line: number): HedgerowError {
  const errors = error.errors?.map(({ loc, msg }) => ({ loc: ['body', line, ...loc.slice(1)], msg }));
  return new HedgerowError(error.code, `Line ${line}: ${error.message} Nothing was inserted.`, {
    ...(errors === undefined ? {} : { errors }),
    fields: { ...error.fields, line },
    cause: error,
  });
}

/** Returns true for a line that contains only white space. */
export function isBlank(text: string): boolean {
  return text === '' || text.trim() === '';
}

function bulkSink(table: Table): Sink {
  const bulk = table.bulk();
  return {
    add(target, edge) {
      if (target !== table) return false;
      bulk.add(edge);
      return true;
    },
    addLines: (text) => bulk.addLines(text),
    async commit(attach) {
      const tablesOf = ({ inserted, firstId, lastId }: BulkOutcome) =>
        new Map([[table.name, { inserted, first_id: firstId, last_id: lastId }]]);
      const result = await bulk.commit(attach && ((outcome) => attach(tablesOf(outcome))));
      return { lsn: result.lsn, tables: tablesOf(result) };
    },
    // Nothing was changed before the commit, but the memory for encoding goes back to the table.
    discard: () => bulk.discard(),
  };
}

function transactionSink(database: Database): Sink {
  const transaction = database.begin();
  const targets: Table[] = [];
  return {
    add(target, edge) {
      transaction.insert(target, edge);
      targets.push(target);
      return true;
    },
    async commit(attach) {
      const result = await transaction.commit(attach && ((outcome) => attach(countInserted(targets, outcome))));
      return { lsn: result.lsn, tables: countInserted(targets, result) };
    },
    discard() {
      transaction.rollback();
    },
  };
}

function countInserted(targets: readonly Table[], { results }: CommitOutcome): Tables {
  const tables = new Map<string, Inserted>();
  results.forEach((result, index) => {
    if (!('row' in result)) return;
    const { name } = targets[index]!;
    const { id } = result.row;
    const known = tables.get(name);
    if (known === undefined) tables.set(name, { inserted: 1, first_id: id, last_id: id });
    else {
      known.inserted += 1;
      known.last_id = id;
    }
  });
  return tables;
}
