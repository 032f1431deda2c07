// The writers in a simulation: inserts, bulk inserts, removals, documents, answers under keys, and
// retried requests.

import type { Table } from '../../src/engine/index.ts';
import type { BulkOutcome, EdgeInput, InsertOutcome } from '../../src/engine/types.ts';
import type { AnswerToKeep } from '../../src/model/kept-answer.ts';
import type { IdOf, SimOp } from './sim-ledger.ts';
import { type SimAnswer, type SimModel, STORES, Violation } from './sim-model.ts';
import type { SimWorld } from './sim-world.ts';

/** Error codes of a write to a table that was dropped or altered meanwhile. */
const GONE = ['table_not_found', 'conflict', 'unknown_column'];

const NO_LINES = new Uint8Array(0);

/** Runs an action; returns false if it found no memory. */
function withMemory(run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== 'overloaded') throw error;
    return false;
  }
}

export class SimWriters {
  readonly #world: SimWorld;
  #keys = 0;
  #last: { name: string; edge: EdgeInput } | undefined;

  constructor(world: SimWorld) {
    this.#world = world;
  }

  /**
   * Returns the answer to store for a request with a key. Most requests have no key, and get
   * undefined.
   */
  answer(chance = 0.35): SimAnswer | undefined {
    const { random } = this.#world;
    if (!random.chance(chance)) return undefined;
    const id = `key-${++this.#keys}`;
    const size = random.chance(0.1) ? random.below(3000) : random.below(40);
    return { id, bodyHash: `hash-${this.#keys}`, body: 'x'.repeat(1 + size) };
  }

  attach<T>(answer: SimAnswer | undefined, look?: (outcome: T) => void): ((outcome: T) => AnswerToKeep) | undefined {
    if (answer === undefined) return undefined;
    return (outcome) => {
      look?.(outcome);
      return this.#world.entryOf(answer);
    };
  }

  /** Returns an edge with a weight that no other row has. */
  edge(name: string): { edge: EdgeInput; token: number } {
    const { source, ledger } = this.#world;
    const { columns, roles } = ledger.model.table(name);
    const made = source.edge({ columns, roles, intervals: false });
    const token = this.#world.token();
    return { edge: { ...made, properties: { ...made.properties, weight: token } }, token };
  }

  insert(answer = this.answer()): void {
    const name = this.#world.anyTable();
    if (name === undefined) return;
    const { edge, token } = this.edge(name);
    this.#last = { name, edge };
    this.#insert(name, edge, token, answer);
  }

  /**
   * Inserts an edge with the time and the members of the last inserted edge, so that one removal
   * removes both.
   */
  equal(): void {
    const last = this.#last;
    if (last === undefined || !this.#world.tableNames().includes(last.name) || !this.#world.hasTable(last.name)) return;
    const { edge, token } = this.edge(last.name);
    this.#insert(last.name, { ...edge, event_ts: last.edge.event_ts, members: last.edge.members }, token, undefined);
  }

  #insert(name: string, edge: EdgeInput, token: number, answer: SimAnswer | undefined): void {
    const world = this.#world;
    const table = world.table(name);
    const values = world.ledger.model.table(name).valuesOf(edge);
    let id: number | undefined;
    let row: string | undefined;
    const op: SimOp = {
      what: `insert ${name} token ${token} @${edge.event_ts} [${edge.members.slice(0, 4)}]${keyed(answer)}`,
      operations: 1 + (answer ? 1 : 0),
      answer,
      state: 'open',
      tables: new Set([name]),
      apply: (model, lsn, idOf) => {
        id ??= idOf(token);
        const target = model.table(name);
        const made = target.rowWith(id ?? -token, edge, values);
        if (row !== undefined) same(op.what, row, JSON.stringify(made));
        target.add(made, lsn, true);
      },
    };
    world.note(op.what);
    const attach = this.attach<InsertOutcome>(answer, (outcome) => {
      id = outcome.row.id;
    });
    const taken = (result: { row: { id: number }; lsn: number }): number => {
      id = result.row.id;
      row = JSON.stringify(result.row);
      return result.lsn;
    };
    world.submit(op, () => table.insert(edge, attach), taken, GONE);
  }

  bulk(): void {
    const world = this.#world;
    const { random } = world;
    const name = world.anyTable();
    if (name === undefined) return;
    const table = world.table(name);
    const count = 1 + random.below(random.chance(0.15) ? 90 : 10);
    const edges = Array.from({ length: count }, () => this.edge(name));
    const model = world.ledger.model.table(name);
    const values = edges.map(({ edge }) => model.valuesOf(edge));
    const answer = this.answer();
    let firstId: number | undefined;
    const op: SimOp = {
      what: `bulk ${name} x${count} from token ${edges[0]!.token}${keyed(answer)}`,
      operations: count + (answer ? 1 : 0),
      answer,
      state: 'open',
      tables: new Set([name]),
      apply: (state, lsn, idOf) => {
        const target = state.table(name);
        for (const [index, { edge, token }] of edges.entries()) {
          const id = firstId === undefined ? idOf(token) : firstId + index;
          if (firstId === undefined && id !== undefined) firstId = id - index;
          target.add(target.rowWith(id ?? -token, edge, values[index]!), lsn + index, true);
        }
      },
    };
    world.note(op.what);
    const attach = this.attach<BulkOutcome>(answer, (outcome) => {
      firstId = outcome.firstId;
    });
    const commit = async () => {
      const bulk = table.bulk();
      try {
        // An edge that is refused for lack of memory is tried again, and some that were taken are
        // encoded before all are: neither may lose others.
        for (const [index, { edge }] of edges.entries()) {
          if (!withMemory(() => bulk.add(edge))) bulk.add(edge);
          if (index % 3 === 1) withMemory(() => bulk.addLines(NO_LINES));
        }
      } catch (error) {
        bulk.discard();
        throw error;
      }
      return bulk.commit(attach);
    };
    const taken = (result: { firstId: number; inserted: number; lsn: number }): number => {
      if (result.inserted !== count) throw new Violation('wrong-answer', `${op.what} answered ${result.inserted} rows`);
      firstId = result.firstId;
      return result.lsn - count + 1;
    };
    world.submit(op, commit, taken, GONE);
  }

  /** Removes by time and members, mostly an edge that exists. */
  remove(): void {
    const world = this.#world;
    const name = world.anyTable();
    if (name === undefined) return;
    const { live } = world.ledger.model.table(name);
    const row = live.length > 0 && world.random.chance(0.9) ? world.source.pick(live).row : undefined;
    const eventTs = row?.event_ts ?? world.source.time();
    const members = row?.members ?? world.source.members();
    const answer = this.answer();
    let matched: number | undefined;
    const op: SimOp = {
      what: `delete ${name} @${eventTs} [${members.slice(0, 4)}]${keyed(answer)}`,
      operations: 1 + (answer ? 1 : 0),
      answer,
      state: 'open',
      tables: new Set([name]),
      apply: (model, lsn) => {
        const wanted = model.table(name).delete(eventTs, members, lsn);
        if (matched !== undefined) same(op.what, `matched ${matched}`, `matched ${wanted}`);
      },
    };
    world.note(op.what);
    const table = world.table(name);
    const taken = (result: { matched: number; lsn: number }): number => {
      matched = result.matched;
      return result.lsn;
    };
    world.submit(op, () => table.delete(eventTs, members, this.attach(answer)), taken, GONE);
  }

  /** Changes documents, such as keys, rules and specs. Several change together or not at all. */
  document(): void {
    const world = this.#world;
    const { random, source } = world;
    const changes = Array.from({ length: 1 + random.below(3) }, () => ({
      store: source.pick(STORES),
      id: `d${random.below(6)}`,
      value: random.chance(0.3) ? null : { token: world.token(), text: source.text().slice(0, 200) },
    }));
    const op: SimOp = {
      what: `documents ${changes.map(({ store, id, value }) => `${value === null ? '-' : '+'}${store}/${id}`).join(' ')}`,
      operations: changes.length,
      state: 'open',
      tables: new Set(),
      apply: (model) => applyDocuments(model, changes),
    };
    world.note(op.what);
    const taken = (lsn: number): number => lsn - changes.length + 1;
    world.submit(op, () => world.db.documents.change(changes), taken, []);
  }

  /**
   * Stores an answer by itself, as the service does for work that is not a single frame. The call
   * does not return its LSN, so nothing else may be in flight.
   */
  async store(): Promise<void> {
    const world = this.#world;
    await world.settle();
    if (world.refuses) return;
    const answer = this.answer(1)!;
    const op: SimOp = {
      what: `store ${answer.id}`,
      operations: 1,
      answer,
      state: 'open',
      tables: new Set(),
      apply: () => {},
    };
    world.note(op.what);
    const next = world.db.lastLsn + 1;
    world.submit(
      op,
      () => world.db.replays.store(world.entryOf(answer)),
      () => next,
      [],
    );
    await world.settle();
  }

  /**
   * Repeats the request of a client that got no answer, unless an answer to the request was kept.
   */
  retry(): void {
    const world = this.#world;
    const retry = world.retries.shift();
    if (retry === undefined) return;
    const found = world.db.replays.find(retry.answer.id);
    world.note(`retry ${retry.answer.id}: ${found === undefined ? 'not done' : 'done'}`);
    world.saw(found === undefined ? 'retry of what was lost' : 'retry of what was done');
    const isKnown = world.ledger.model.answers.has(retry.answer.id);
    if (found !== undefined && !isKnown)
      throw new Violation('answer-without-write', `an answer is kept under ${retry.answer.id}, but its write is lost`);
    // The retry has the same key but inserts another row. So if the first request was carried out
    // after all, the database has both rows, and the ledger finds the fault.
    if (found === undefined && !isKnown) this.insert(retry.answer);
  }
}

function applyDocuments(model: SimModel, changes: { store: string; id: string; value: unknown }[]): void {
  for (const { store, id, value } of changes) {
    if (value === null) model.documents.delete(`${store}/${id}`);
    else model.documents.set(`${store}/${id}`, value);
  }
}

export function keyed(answer: SimAnswer | undefined): string {
  return answer === undefined ? '' : ` under ${answer.id}`;
}

export function same(what: string, found: string, wanted: string): void {
  if (found !== wanted) throw new Violation('wrong-answer', `${what} answered ${found}, not ${wanted}`);
}

export type { IdOf, Table };
