// Compares everything in a database with the model.

import type { Database, Table } from '../../src/engine/index.ts';
import { select, textOf } from '../model/naive-table.ts';
import { difference, type IdOf, type Recovered } from './sim-ledger.ts';
import { type SimModel, STORES, shapeOfDatabase, shapeOfModel, Violation } from './sim-model.ts';
import { judgeSearches } from './sim-search.ts';

/**
 * Maximum number of other answers that may have been evicted by answers that were stored and then
 * lost in a crash.
 */
export const ANSWERS_UNDER_WAY = 10;

/** Which answers must be kept. */
export interface Keeping {
  readonly keptAnswers: number;
  readonly boundsBytes: boolean;
}

/** Returns the rule that a missing answer violates. */
export function lostAnswer({ boundsBytes }: Keeping): string {
  return boundsBytes ? 'answer-lost-for-bytes' : 'answer-lost';
}

/** Returns the text of a whole scan. */
export function textOfScan(table: Table, request: Parameters<Table['scan']>[0]): string {
  const scan = table.scan(request);
  const slices: Uint8Array[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next()) slices.push(slice.slice());
  return Buffer.concat(slices).toString();
}

/** Throws a Violation that describes where the database and the model differ. */
export function judge(db: Database, model: SimModel, keeping: Keeping): void {
  same('wrong-shape', 'the tables', shapeOfDatabase(db), shapeOfModel(model));
  for (const [name, table] of model.tables) {
    const found = db.table(name);
    if (found.corrupt !== null) throw new Violation('wrong-refusal', `${name}: ${found.corrupt.message}`);
    const rows = model.tables.get(name)!.at(model.lsn);
    same('wrong-rows', `all rows of ${name}`, textOfScan(found, { format: 'json' }), textOf(rows, 'json'));
    if (found.rowCount !== rows.length)
      throw new Violation('wrong-count', `${name} counts ${found.rowCount} rows, there are ${rows.length}`);
    const greatest = Math.max(0, ...table.usedIds);
    if (found.nextId <= greatest)
      throw new Violation('id-reused', `${name} gives id ${found.nextId}, ${greatest} was given`);
    if (table.text !== undefined) judgeSearches(db, name, table, rows);
    const nodes = rows.at(-1)?.members.slice(0, 1) ?? [];
    if (nodes.length === 0) continue;
    const wanted = textOf(select(rows, { nodes }).rows, 'json');
    same('wrong-rows', `rows of ${name} with node ${nodes[0]}`, textOfScan(found, { format: 'json', nodes }), wanted);
  }
  judgeDocuments(db, model);
  judgeAnswers(db, model, keeping);
}

function judgeDocuments(db: Database, model: SimModel): void {
  const found = STORES.flatMap((store) =>
    db.documents.entries(store).map(([id, value]) => `${store}/${id}=${JSON.stringify(value)}`),
  );
  const wanted = [...model.documents].map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  same('wrong-documents', 'the documents', found.sort().join('\n'), wanted.sort().join('\n'));
}

function judgeAnswers(db: Database, model: SimModel, keeping: Keeping): void {
  const kept = new Set(model.lastAnswers(keeping.keptAnswers - ANSWERS_UNDER_WAY).map(({ id }) => id));
  for (const answer of model.answers.values()) {
    const found = findAnswer(db, answer.id);
    if (found === undefined) {
      if (kept.has(answer.id)) throw new Violation(lostAnswer(keeping), `the answer ${answer.id} is gone`);
    } else if (found.bodyHash !== answer.bodyHash || (found.body && found.body !== answer.body))
      throw new Violation('wrong-answer', `under ${answer.id} is the answer of another request`);
  }
}

/**
 * Finds an answer. A lookup of a key fails if a file of answers is damaged, but here no file is
 * damaged.
 */
function findAnswer(db: Database, id: string): ReturnType<Database['replays']['find']> {
  try {
    return db.replays.find(id);
  } catch (error) {
    throw new Violation('wrong-refusal', `under ${id}: ${(error as Error).message}`);
  }
}

function same(rule: string, what: string, found: string, wanted: string): void {
  if (found !== wanted) throw new Violation(rule, `${what}:\n${difference(found, wanted)}`);
}

/** Returns what a newly opened database reports. */
export function recoveredFrom(db: Database, keeping: Keeping): Recovered {
  let ids: Map<number, number> | undefined;
  const idOf: IdOf = (token) => {
    ids ??= idsByToken(db);
    return ids.get(token);
  };
  return {
    lsn: db.lastLsn,
    hasAnswer: (id) => (findAnswer(db, id) !== undefined ? true : keeping.boundsBytes ? undefined : false),
    idOf,
    judge: (model) => judge(db, model, keeping),
  };
}

function idsByToken(db: Database): Map<number, number> {
  const ids = new Map<number, number>();
  for (const table of db.tables()) {
    if (table.corrupt !== null) continue;
    const rows: { id: number; weight: number | null }[] = JSON.parse(`[${textOfScan(table, { format: 'json' })}]`);
    for (const { id, weight } of rows) if (weight !== null) ids.set(weight, id);
  }
  return ids;
}
