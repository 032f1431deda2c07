// Finds all versions of what was said: memories that name some things, or one memory by its id, and
// the memories that these superseded or that superseded them, before and after.
//
// Versions form chains: `supersedes` of each holds the id of the one before. The chains are
// followed forward first: if there are too many versions, those before are left out and not those
// after.

import { buildRowPlan, type RowPlan } from '../core/index.ts';
import type { Database, Nodes, Snapshot, Table } from '../engine/index.ts';
import { invalidFields } from '../model/fields.ts';
import { ABOUT, SUPERSEDES, WHO } from '../model/memories.ts';
import { type Steps, slices } from '../schedule/steps.ts';
import { type MemoryRow, readRows, rowsOf, type ShownMemory, shownMemory, withId } from './memory-rows.ts';
import { memoryTable } from './memory-table.ts';
import { rolesOf } from './recall.ts';
import { memoryNotFound } from './supersede.ts';

export interface HistoryRequest {
  /** Default: `memories`. */
  readonly table?: string | undefined;
  /** One memory; not together with `who` or `about`. */
  readonly id?: number | undefined;
  /** Memories with at least one of these keys in the role `who`; absent: no condition. */
  readonly who?: readonly string[] | undefined;
  /** The same for the role `about`. */
  readonly about?: readonly string[] | undefined;
  /** Maximum number of versions, 1 or more. There are fewer if their texts are very long. */
  readonly limit: number;
}

/** A version with the ids of its neighbours in the chain; null if there is none. */
export interface Version extends ShownMemory {
  readonly supersedes: number | null;
  readonly superseded_by: number | null;
}

export interface History {
  /** Ordered by (event_ts, id). */
  readonly memories: Version[];
  /** Whether there are more versions; those that are left out are older, or of other chains. */
  readonly truncated: boolean;
  readonly lsn: number;
}

/**
 * Returns the versions, in steps of a few ms. Throws `table_not_found`, `edge_not_found`,
 * `invalid_input`, `table_corrupt` or `overloaded`.
 */
export function* historyOf(database: Database, request: HistoryRequest): Steps<History> {
  assertAsks(request);
  const table = memoryTable(database, request.table);
  const snapshot = table.snapshot();
  try {
    const chains = new Chains(table, snapshot, request.limit);
    yield* chains.begin(yield* firstRows(table, snapshot, database.nodes, request));
    yield* chains.follow();
    const memories = yield* chains.versions(database.nodes);
    return { memories, truncated: chains.isTruncated, lsn: snapshot.lsn };
  } finally {
    snapshot.release();
  }
}

function assertAsks({ id, who = [], about = [] }: HistoryRequest): void {
  const names = who.length + about.length > 0;
  if (id === undefined && !names)
    throw invalidFields([{ loc: ['body', 'id'], msg: 'is missing; give id, or who, about or both' }]);
  if (id !== undefined && names)
    throw invalidFields([{ loc: ['body', 'id'], msg: 'cannot be used together with who or about' }]);
}

/** Rows that were found, without versions before and after them. */
interface FirstRows {
  /** Ordered by (event_ts, id). */
  readonly rows: MemoryRow[];
  /** Whether older rows were left out. */
  readonly isCut: boolean;
}

function* firstRows(
  table: Table,
  snapshot: Snapshot,
  nodes: Nodes,
  { id, who = [], about = [], limit }: HistoryRequest,
): Steps<FirstRows> {
  if (id !== undefined) {
    const rows = yield* readRows(table, snapshot, withId(id));
    if (rows.length === 0) throw memoryNotFound(table, id);
    return { rows, isCut: false };
  }
  const [one, other] = rolesOf(table, nodes, { [WHO]: who, [ABOUT]: about }) as AskedRoles;
  const anyOf = Float64Array.from(one.nodes);
  if (anyOf.length === 0) return { rows: [], isCut: false };
  let rows: MemoryRow[] = [];
  /** Rows before this place are left out; removing them one by one would move all others. */
  let first = 0;
  let letters = 0;
  let isCut = false;
  for (const some of rowsOf(table.scan({ anyOf, format: 'ndjson' }, snapshot))) {
    for (const row of some) {
      if (!hasRole(row, one) || (other !== undefined && !hasRole(row, other))) continue;
      rows.push(row);
      letters += lettersOf(row);
      while (rows.length - first > limit || (letters > MOST_LETTERS && rows.length - first > 1)) {
        letters -= lettersOf(rows[first]!);
        first++;
      }
    }
    if (first > limit) {
      rows = rows.slice(first);
      first = 0;
      isCut = true;
    }
    yield;
  }
  return { rows: rows.slice(first), isCut: isCut || first > 0 };
}

/**
 * Number of rows of a step; a row takes some 20 us: the key of each member is looked up, and there
 * may be 64 of them.
 */
const ROWS_AT_ONCE = 64;

/** Maximum number of characters in the texts of an answer, which are in memory several times. */
const MOST_LETTERS = 4 * 2 ** 20;

function lettersOf(row: MemoryRow): number {
  let letters = 0;
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'string') letters += value.length;
  }
  return letters;
}

/** The nodes that are asked for, in one role or in both. */
type AskedRole = ReturnType<typeof rolesOf>[number];
type AskedRoles = [AskedRole, AskedRole?];

/** Returns whether a row has one of the nodes in the role. */
function hasRole({ roles }: MemoryRow, { role, nodes }: AskedRole): boolean {
  return roles[role as keyof MemoryRow['roles']].some((member) => nodes.includes(member));
}

/** The columns of a row that tell which memory it superseded. */
interface Link {
  readonly id: number;
  readonly event_ts: number;
  readonly supersedes: number;
}

/** Follows the chains of some memories in one snapshot. */
class Chains {
  readonly #table: Table;
  readonly #snapshot: Snapshot;
  readonly #limit: number;
  readonly #linkPlan: RowPlan;
  readonly #rows = new Map<number, MemoryRow>();
  /** Ids of successors, by the id of the memory that they superseded. */
  readonly #next = new Map<number, number>();
  #letters = 0;
  isTruncated = false;

  constructor(table: Table, snapshot: Snapshot, limit: number) {
    this.#table = table;
    this.#snapshot = snapshot;
    this.#limit = limit;
    // The columns of the snapshot: the table's may change between two steps.
    const { id, name } = snapshot.columns.find(SUPERSEDES)!;
    this.#linkPlan = buildRowPlan([{ id, name, missing: 'null' }]);
  }

  *begin({ rows, isCut }: FirstRows): Steps<void> {
    this.isTruncated = isCut;
    yield* slices(rows.length, ROWS_AT_ONCE, (from, to) => {
      for (const row of rows.slice(from, to)) this.#keep(row);
    });
  }

  /** Adds the versions after those that are known, and then those before all of these. */
  *follow(): Steps<void> {
    for (let known = [...this.#rows.keys()]; known.length > 0; ) known = yield* this.#after(known);
    for (const [place, row] of [...this.#rows.values()].entries()) {
      yield* this.#before(row);
      if (place % ROWS_AT_ONCE === 0) yield;
    }
  }

  /** Adds the successors of some memories; returns the ids of those that were not known. */
  *#after(ids: readonly number[]): Steps<number[]> {
    const wanted = new Set(ids);
    const [low, high] = extremes(ids);
    const where = [{ column: SUPERSEDES, low, high }];
    const scan = this.#table.scan({ where, format: 'ndjson', rows: this.#linkPlan }, this.#snapshot);
    const added: Link[] = [];
    for (const links of rowsOf<Link>(scan)) {
      for (const link of links) {
        if (!wanted.has(link.supersedes)) continue;
        if (!this.#next.has(link.supersedes)) this.#next.set(link.supersedes, link.id);
        if (!this.#rows.has(link.id)) added.push(link);
      }
      yield;
    }
    const found: number[] = [];
    for (const { id, event_ts: eventTs } of added) {
      const after = { eventTs, id: id - 1 };
      const rows = yield* readRows(this.#table, this.#snapshot, { startTs: eventTs, endTs: eventTs, after, limit: 1 });
      if (this.#add(rows[0]!)) found.push(id);
    }
    return found;
  }

  /** Adds the memories that a memory superseded, and those that these superseded, and so on. */
  *#before(row: MemoryRow): Steps<void> {
    for (let at = row; at.supersedes !== null; ) {
      this.#next.set(at.supersedes, this.#next.get(at.supersedes) ?? at.id);
      const known = this.#rows.get(at.supersedes);
      if (known !== undefined) return;
      const [found] = yield* readRows(this.#table, this.#snapshot, withId(at.supersedes));
      if (found === undefined || !this.#add(found)) return;
      at = found;
    }
  }

  /** Adds a version, unless there are as many as wanted. */
  #add(row: MemoryRow): boolean {
    if (this.#rows.size >= this.#limit || this.#letters > MOST_LETTERS) {
      this.isTruncated = true;
      return false;
    }
    this.#keep(row);
    return true;
  }

  #keep(row: MemoryRow): void {
    this.#rows.set(row.id, row);
    this.#letters += lettersOf(row);
  }

  *versions(nodes: Nodes): Steps<Version[]> {
    // In one step: 10,000 rows, the most that a request may ask for, take about 3 ms.
    const rows = [...this.#rows.values()].sort((a, b) => a.event_ts - b.event_ts || a.id - b.id);
    yield;
    const versions: Version[] = [];
    yield* slices(rows.length, ROWS_AT_ONCE, (from, to) => {
      for (const row of rows.slice(from, to)) versions.push(this.#version(row, nodes));
    });
    return versions;
  }

  #version(row: MemoryRow, nodes: Nodes): Version {
    const { supersedes } = row;
    return { ...shownMemory(row, nodes), supersedes, superseded_by: this.#next.get(row.id) ?? null };
  }
}

function extremes(numbers: readonly number[]): [least: number, greatest: number] {
  let [least, greatest] = [Infinity, -Infinity];
  for (const number of numbers) {
    if (number < least) least = number;
    if (number > greatest) greatest = number;
  }
  return [least, greatest];
}
