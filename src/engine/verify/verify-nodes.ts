// Checks node tables and the members of named tables: every node has a key, its number is its id,
// time and only member, and every member of an edge is a node.
//
// Keys are compared within each segment: a comparison of all keys of a table would take as much
// memory as the keys. (A key that two segments have is found when the database is opened.) Which
// numbers are nodes, and which are members of a table, is one bit per number. Only edges in
// segments are checked, and not those of a table whose log holds deletions: the nodes of a deleted
// edge may be gone.

import {
  buildColumnPlan,
  type ColumnBlock,
  type ResidentSegment,
  readColumnBlocks,
  SEPARATOR,
  STEP_STATE,
  type StepResult,
  TextSink,
} from '../../core/index.ts';
import { corruption } from '../../errors.ts';
import { keyProblem, type NodeKey } from '../../model/node-refs.ts';
import type { TableDefinition } from '../catalog/catalog.ts';
import { splitRecords } from '../changes/before-rows.ts';
import { keyColumnOf } from '../nodes/definitions.ts';
import type { Problem } from './problem.ts';

/** Offset of the id in a record (assembly/FORMAT.md, section 1). */
const ID_AT = 16;
const MOST_NUMBER = 2 ** 32 - 1;
const MEMBERS = buildColumnPlan({ ids: true, members: true, columns: [] });

/** A set of node numbers. */
class NumberSet {
  #bits = new Uint8Array(1024);

  add(number: number): void {
    const at = Math.floor(number / 8);
    if (at >= this.#bits.length) {
      const larger = new Uint8Array(Math.max(at + 1, 2 * this.#bits.length));
      larger.set(this.#bits);
      this.#bits = larger;
    }
    this.#bits[at]! |= 1 << (number % 8);
  }

  /** Returns the least number that another set lacks. */
  firstNotIn(other: NumberSet): number | undefined {
    for (const [at, bits] of this.#bits.entries()) {
      const missing = bits & ~(other.#bits[at] ?? 0);
      if (missing !== 0) return 8 * at + (31 - Math.clz32(missing & -missing));
    }
    return undefined;
  }
}

interface NamedTable {
  readonly name: string;
  readonly path: string;
  readonly members: NumberSet;
}

export class NodeCheck {
  readonly #nodeTables = new Set<number>();
  readonly #nodes = new NumberSet();
  /** By table id. */
  readonly #named = new Map<number, NamedTable>();
  /** Whether some nodes could not be read, so that members cannot be checked. */
  #isIncomplete = false;

  /** Notes a table of the manifest or of the log. */
  created({ id, key }: TableDefinition): void {
    if (key !== undefined) this.#nodeTables.add(id);
  }

  /** Notes that a segment of a table cannot be read. */
  unreadable({ key }: TableDefinition): void {
    if (key !== undefined) this.#isIncomplete = true;
  }

  /** Notes the records of an INSERT run. */
  inserted(tableId: number, bytes: Uint8Array): void {
    if (!this.#nodeTables.has(tableId)) return;
    for (const record of splitRecords(bytes))
      this.#nodes.add(new DataView(record.buffer, record.byteOffset).getUint32(ID_AT, true));
  }

  /** Checks a segment that is in memory, if it has nodes or keys. Throws `corrupt`. */
  takeSegment(definition: TableDefinition, segment: ResidentSegment, path: string): void {
    if (definition.key !== undefined) this.#takeNodes(definition, segment, path);
    else if (definition.nodes !== undefined) this.#takeMembers(definition, segment, path);
  }

  #takeNodes(definition: TableDefinition, segment: ResidentSegment, path: string): void {
    const column = keyColumnOf(definition);
    const isInteger = column.type === 'INTEGER';
    const kind = { name: definition.name, isInteger };
    const plan = buildColumnPlan({
      times: true,
      ids: true,
      members: true,
      columns: [{ id: column.id, type: isInteger ? 'INTEGER' : 'TEXT', missing: null }],
    });
    const keys = new Set<NodeKey>();
    for (const block of blocksOf(segment, plan)) {
      const { rows, ids, times, members, columns } = block;
      if (members.length !== rows) throw corruption(path, 0, 'a node has not one member, its number');
      for (let row = 0; row < rows; row++) {
        const number = ids[row]!;
        if (number < 1 || number > MOST_NUMBER || times[row] !== number || members[row] !== number)
          throw corruption(path, 0, `a node has the id ${number}, which is not its time, its member and a number`);
        const key = keyAt(columns[0]!, row);
        const problem = key === null ? 'is missing' : keyProblem(key, kind);
        if (problem !== undefined) throw corruption(path, 0, `the key of node ${number} ${problem}`);
        if (keys.size === keys.add(key!).size)
          throw corruption(path, 0, `two nodes have the key ${JSON.stringify(key)}`);
        this.#nodes.add(number);
      }
    }
  }

  #takeMembers({ id, name }: TableDefinition, segment: ResidentSegment, path: string): void {
    let named = this.#named.get(id);
    if (named === undefined) {
      named = { name, path, members: new NumberSet() };
      this.#named.set(id, named);
    }
    for (const { members } of blocksOf(segment, MEMBERS))
      for (const member of members) {
        if (!(member >= 1 && member <= MOST_NUMBER))
          throw corruption(path, 0, `an edge has the member ${member}, which is no number of a node`);
        named.members.add(member);
      }
  }

  /**
   * Returns the faults that are known once the log was read. `deletions` is the number of deletions
   * in the log by table id.
   */
  problems(deletions: ReadonlyMap<number, number>): Problem[] {
    if (this.#isIncomplete) return [];
    const found: Problem[] = [];
    for (const [id, { name, path, members }] of this.#named) {
      const missing = (deletions.get(id) ?? 0) > 0 ? undefined : members.firstNotIn(this.#nodes);
      if (missing === undefined) continue;
      const file = path.slice(0, path.lastIndexOf('/'));
      found.push({ file, offset: 0, what: `an edge of table ${name} has the member ${missing}, which is no node` });
    }
    return found;
  }
}

function keyAt(column: ColumnBlock['columns'][number], row: number): NodeKey | null {
  if (column.nulls[row] !== 0) return null;
  return column.kind === 'text' ? column.texts[column.codes[row]!]! : column.values[row]!;
}

/** Yields all rows of a segment, a few thousand at a time. */
function* blocksOf(segment: ResidentSegment, plan: ReturnType<typeof buildColumnPlan>): Generator<ColumnBlock> {
  const none = { count: 0, rows: new Uint32Array(0), lsns: new Float64Array(0), version: 0 };
  const bounds = { lowTs: -Infinity, lowId: -Infinity, endTs: Infinity, stopTs: Infinity, stopId: 0 };
  const result: StepResult = { rows: 0, firstTs: 0, lastTs: 0, lastId: 0, buckets: 0, state: STEP_STATE.more };
  const sink = new TextSink();
  do {
    const next = segment.step(bounds, 0, none, 0, Number.MAX_SAFE_INTEGER, plan, SEPARATOR.columns, sink, result);
    if (result.rows > 0) {
      bounds.lowTs = result.lastTs;
      bounds.lowId = result.lastId + 1;
      yield* readColumnBlocks(sink.takeAligned(), plan);
    } else if (result.state === STEP_STATE.more) {
      const { eventTs, id } = segment.keyOf(next);
      bounds.lowTs = eventTs;
      bounds.lowId = id;
    }
  } while (result.state === STEP_STATE.more);
}
