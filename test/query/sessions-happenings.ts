// Makes events happen between the statements of sessions: REST writes, batches, compactions,
// changed definitions, and the passage of time.

import type { Transaction } from '../../src/engine/index.ts';
import { WITH_TURNS } from './door.ts';
import { pick, randomMembers, randomNote, randomNumber, randomTime } from './sessions-conditions.ts';
import { newRow, type Outcome, refusalOf, type SessionsPlace, sameLsn } from './sessions-place.ts';
import type { ModelTable, Row } from './sessions-rows.ts';
import { aloneWrite } from './sessions-scripts.ts';
import { deleteOf, type SessionStatement } from './sessions-statements.ts';

/** Makes a random event happen. `homes` are the sessions' own nodes. */
export async function somethingHappens(place: SessionsPlace, homes: readonly number[]): Promise<void> {
  const { random } = place;
  const mostItems = 120 + 2 * homes.length;
  const dice = place.tables.items.live().length > mostItems ? 0 : random.below(100);
  if (dice < 6) await thinOut(place);
  else if (dice < 40) await insertRest(place, homes);
  else if (dice < 60) await deleteRest(place);
  else if (dice < 75) await runBatch(place, homes);
  else if (dice < 86) await compact(place);
  else if (dice < 96) place.clock += random.chance(0.9) ? random.below(3) : 10 + random.below(30);
  else await reshape(place);
}

async function thinOut(place: SessionsPlace): Promise<void> {
  await place.settle();
  const low = randomTime(place.random);
  const isFar = (row: Row) => row.event_ts >= low && row.event_ts <= low + 60;
  const rest = ' WHERE event_ts >= $low AND event_ts <= $low + 60';
  await place.commitAlone('key', deleteOf(place.tables.items, rest, { low }, isFar));
  place.saw('thinned out');
}

/**
 * Inserts one edge by REST. Its position among the commits is determined by the time of the call.
 */
export function insertEdge(place: SessionsPlace, table: ModelTable, row: Omit<Row, 'id'>): void {
  const engine = place.database.table(table.name);
  const id = engine.nextId;
  const lsn = place.model.insert(table, newRow(id, row));
  const { event_ts, members, n, note } = row;
  const sent = engine.insert({ event_ts, members: [...members].reverse(), properties: { n, note } });
  const check = async () => {
    const answer = await sent;
    if (answer.row.id !== id) throw new Error(`the row has id ${answer.row.id}, not ${id}`);
    sameLsn(answer.lsn, lsn);
  };
  place.later(check());
}

async function insertRest(place: SessionsPlace, homes: readonly number[]): Promise<void> {
  while (place.mustSettle) await place.settle();
  const { random } = place;
  const row = {
    event_ts: randomTime(random),
    members: randomMembers(random, pick(random, homes)),
    n: randomNumber(random),
    note: randomNote(random),
  };
  place.note(`insert ${JSON.stringify(row)}`);
  insertEdge(place, place.tables.items, row);
  place.saw('insert by REST');
}

async function deleteRest(place: SessionsPlace): Promise<void> {
  while (place.mustSettle) await place.settle();
  const { items } = place.tables;
  const live = items.live();
  if (live.length === 0) return;
  const { event_ts, members } = pick(place.random, live).row;
  place.note(`delete @${event_ts} [${members}]`);
  const { lsn, matched } = place.model.removeEqual(items, event_ts, members);
  const sent = place.database.table(items.name).delete(event_ts, members);
  const check = async () => {
    const answer = await sent;
    if (answer.matched !== matched) throw new Error(`${answer.matched} edges went, not ${matched}`);
    sameLsn(answer.lsn, lsn);
  };
  place.later(check());
  place.saw('delete by REST');
}

/** Runs statements and edges in one commit, as POST /v1/batch does. */
async function runBatch(place: SessionsPlace, homes: readonly number[]): Promise<void> {
  await place.settle();
  const { random } = place;
  const { items } = place.tables;
  const home = pick(random, homes);
  const view = place.model.begin(place.database.lastLsn);
  const transaction = place.database.begin();
  const table = place.database.table(items.name);
  const rows = view.rows(items);
  if (rows.length > 0) {
    const { event_ts, members } = pick(random, rows);
    place.note(`batch: delete @${event_ts} [${members}]`);
    transaction.delete(table, event_ts, members);
    view.removeEqual(items, event_ts, members);
  }
  const row = { event_ts: randomTime(random), members: [home], n: 7, note: 'batch' };
  const { id } = transaction.insert(table, { ...row, properties: { n: row.n, note: row.note } });
  view.insert(items, newRow(id, row));
  for (let count = random.below(3); count > 0; count--) {
    const statement = aloneWrite({ random, home, view }, place.tables);
    if (/^(COMMIT|ROLLBACK)/.test(statement.text)) continue;
    place.compare(statement, view, await sendInside(place, transaction, statement));
  }
  sameLsn((await transaction.commit()).lsn, place.model.commit(view));
  place.saw('batch');
}

async function sendInside(
  place: SessionsPlace,
  transaction: Transaction,
  { text, parameters }: SessionStatement,
): Promise<Outcome> {
  place.note(`batch: ${text}  ${JSON.stringify(parameters)}`);
  try {
    const { statements } = place;
    const written = await statements.runInside(statements.prepare(text), parameters, transaction, WITH_TURNS);
    if ('steps' in written) written.close();
    return { answer: { columns: [], rows: [written], lsn: 0 } };
  } catch (error) {
    return refusalOf(error);
  }
}

async function compact(place: SessionsPlace): Promise<void> {
  place.note('compact');
  const work = async () => void (await place.database.compact());
  if (place.random.chance(0.5)) place.later(work());
  else await work();
  place.saw('compaction');
}

/**
 * Adds or drops a column. Transactions that wrote to the table earlier can then no longer commit.
 */
async function reshape(place: SessionsPlace): Promise<void> {
  await place.settle();
  const table = pick(place.random, place.model.tables);
  const has = place.database.table(table.name).columns.columns.some(({ name }) => name === 'extra');
  await place.define(`ALTER TABLE ${table.name} ${has ? 'DROP COLUMN extra' : 'ADD COLUMN extra REAL DEFAULT 0.5'}`);
  place.model.lsn = place.database.lastLsn;
  table.shapeLsn = place.model.lsn;
  place.saw('definition');
}
