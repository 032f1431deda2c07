// Checks that the content of a manifest's document is consistent; its checksum and its shape are
// checked elsewhere.

import { IDENTIFIER } from '../../model/columns.ts';
import { REPLAY_HEADER_BYTES } from '../../storage/index.ts';
import { columnsOf } from '../catalog/catalog.ts';
import type { Checkpoint, CheckpointTable } from '../checkpoint/checkpoint.ts';

/**
 * Returns one sentence per fault; empty if there are none. Never throws, whatever the document
 * contains.
 */
export function manifestFaults(document: Checkpoint): string[] {
  try {
    return [
      ...lsnFaults(document),
      ...document.tables.flatMap((table) => tableFaults(table, document)),
      ...twins(document),
      ...documentFaults(document),
      ...answerFaults(document),
    ];
  } catch (error) {
    return [`the document lacks a part (${(error as Error).message})`];
  }
}

function isCount(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

function lsnFaults({ lsn, nextTableId }: Checkpoint): string[] {
  const faults: string[] = [];
  if (!isCount(lsn, 0)) faults.push(`its LSN is ${lsn}`);
  if (!isCount(nextTableId, 1)) faults.push(`its next table number is ${nextTableId}`);
  return faults;
}

function tableFaults({ definition, appliedLsn, nextId, nextSegment, segments }: CheckpointTable, document: Checkpoint) {
  const { id, name, columns, indexes, text } = definition;
  const table = `table ${JSON.stringify(name)}`;
  const faults: string[] = [];
  const need = (holds: boolean, what: string) => {
    if (!holds) faults.push(`${table}: ${what}`);
  };
  need(typeof name === 'string' && IDENTIFIER.test(name), 'its name is not an identifier');
  need(isCount(id, 1) && id < document.nextTableId, `its number ${id} was not given out`);
  need(
    isCount(appliedLsn, 0) && appliedLsn <= document.lsn,
    `its segments reach LSN ${appliedLsn}, the manifest ${document.lsn}`,
  );
  need(isCount(nextId, 1), `its next edge id is ${nextId}`);
  need(isCount(nextSegment, 1), `its next segment number is ${nextSegment}`);
  const columnIds = new Set(columns.map((column) => column.id));
  need(columnIds.size === columns.length, 'two columns have the same number');
  need(
    columns.every((column) => column.id < definition.nextColumnId),
    'a column has a number that was not given out',
  );
  // Those of the table and the built-in ones, of which the definition does not list the names.
  const all = new Set(columnsOf(definition).columns.map((column) => column.id));
  need(
    indexes.every(({ column }) => all.has(column)),
    'there is an index on a column that does not exist',
  );
  need(
    text === undefined || text.columns.every((column) => all.has(column)),
    'there is a text index on a column that does not exist',
  );
  const numbers = segments.map((segment) => segment.number);
  need(new Set(numbers).size === numbers.length, 'a segment is listed twice');
  need(
    segments.every(({ number, bytes }) => isCount(number, 0) && number < nextSegment && isCount(bytes, 1)),
    'a segment is listed with a number that was not given out, or without bytes',
  );
  need(
    segments.every(({ checksum = 0 }) => isCount(checksum, 0) && checksum < 2 ** 32),
    'a segment is listed with an invalid checksum',
  );
  return faults;
}

function twins({ tables }: Checkpoint): string[] {
  const faults: string[] = [];
  const names = new Set(tables.map(({ definition }) => definition.name.toLowerCase()));
  if (names.size < tables.length) faults.push('two tables have the same name');
  if (new Set(tables.map(({ definition }) => definition.id)).size < tables.length)
    faults.push('two tables have the same number');
  return faults;
}

function documentFaults({ documents = [] }: Checkpoint): string[] {
  return documents.flatMap(({ store, entries }) => {
    const ids = new Set(entries.map(([id]) => id));
    const isWhole = typeof store === 'string' && ids.size === entries.length;
    const areWhole = entries.every(([id, value]) => typeof id === 'string' && value !== null && value !== undefined);
    return isWhole && areWhole ? [] : [`the documents of ${JSON.stringify(store)} are not ids with values`];
  });
}

function answerFaults({ replays, lsn }: Checkpoint): string[] {
  if (replays === undefined) return [];
  const { files, next, lost = [] } = replays;
  const numbers = new Set(files.map(({ number }) => number));
  const isFile = ({ number, bytes }: { number: number; bytes: number }) =>
    isCount(number, 1) && number < next && isCount(bytes, REPLAY_HEADER_BYTES);
  const hold = numbers.size === files.length && files.every(isFile) && lost.every(isFile);
  const areTimed = lost.every(({ newestAt }) => Number.isFinite(newestAt));
  const isWhole = hold && areTimed && isCount(next, 1) && isCount(replays.lsn, 0) && replays.lsn <= lsn;
  return isWhole ? [] : ['the list of the files of stored answers is not consistent'];
}
