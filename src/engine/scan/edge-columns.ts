// Builds whole columns of edges from column blocks: merges two streams of blocks, each in
// (event_ts, id) order, into one.

import { buildColumnPlan, type ColumnBlock, type IncidenceColumns, type NumberColumn } from '../../core/index.ts';
import { BUILT_IN_COLUMNS } from '../../model/columns.ts';

const WEIGHT = BUILT_IN_COLUMNS.find(({ name }) => name === 'weight')!;

/** The fields that a scan returns for each edge: time, id, members, weight. */
export const EDGE_PLAN = buildColumnPlan({
  times: true,
  ids: true,
  members: true,
  columns: [{ id: WEIGHT.id, type: 'REAL', missing: null }],
});

/** The same with the roles of the members, for tables with roles. */
export const ROLES_PLAN = buildColumnPlan({ ...EDGE_PLAN.parts, masks: true });

/** Returns the plan for the edges of a table. */
export function edgePlan(hasRoles: boolean): typeof EDGE_PLAN {
  return hasRoles ? ROLES_PLAN : EDGE_PLAN;
}

/** Approximate number of rows copied per step. */
const STEP_ROWS = 65_536;

/**
 * Merges two streams of blocks. A step copies about STEP_ROWS rows and yields the fraction of the
 * work done.
 */
export function* joinBlocks(
  first: readonly ColumnBlock[],
  second: readonly ColumnBlock[],
): Generator<number, IncidenceColumns, void> {
  const blocks = [...first, ...second];
  const rows = blocks.reduce((sum, block) => sum + block.rows, 0);
  const target = new Target(
    rows,
    blocks.reduce((sum, block) => sum + block.members.length, 0),
    blocks.some(({ masks }) => masks.length > 0),
  );
  const [a, b] = [new Reader(first), new Reader(second)];
  let next = STEP_ROWS;
  for (let block = a.block ?? b.block; block !== undefined; block = a.block ?? b.block) {
    const [ahead, other] = isBehind(a, b) ? [b, a] : [a, b];
    ahead.copyUntil(other, target);
    if (target.rows < next) continue;
    next = target.rows + STEP_ROWS;
    yield target.rows / rows;
  }
  return target.columns;
}

/** Returns whether `a` is exhausted or its next row comes after the next row of `b`. */
function isBehind(a: Reader, b: Reader): boolean {
  if (a.block === undefined) return true;
  return b.block !== undefined && isBelow(b.block, b.row, a.block.times[a.row]!, a.block.ids[a.row]!);
}

function isBelow({ times, ids }: ColumnBlock, row: number, time: number, id: number): boolean {
  return times[row]! < time || (times[row]! === time && ids[row]! < id);
}

class Target {
  readonly columns: IncidenceColumns;
  rows = 0;
  members = 0;

  constructor(rows: number, members: number, hasMasks: boolean) {
    this.columns = {
      times: new Float64Array(rows),
      ids: new Float64Array(rows),
      sizes: new Uint32Array(rows),
      members: new Float64Array(members),
      weights: new Float64Array(rows),
      masks: hasMasks ? new Uint16Array(members) : undefined,
    };
  }
}

/** A position in a stream of non-empty blocks. */
class Reader {
  readonly #blocks: readonly ColumnBlock[];
  #index = 0;
  row = 0;
  #member = 0;

  constructor(blocks: readonly ColumnBlock[]) {
    this.#blocks = blocks.filter((block) => block.rows > 0);
  }

  get block(): ColumnBlock | undefined {
    return this.#blocks[this.#index];
  }

  /** Copies the rows of the current block that come before the next row of `other`. */
  copyUntil(other: Reader, target: Target): void {
    const block = this.block!;
    const { row } = this;
    const end = other.block === undefined ? block.rows : this.#placeOf(block, other.block, other.row);
    let members = 0;
    for (let at = row; at < end; at++) members += block.sizes[at]!;
    const { columns } = target;
    columns.times.set(block.times.subarray(row, end), target.rows);
    columns.ids.set(block.ids.subarray(row, end), target.rows);
    columns.sizes.set(block.sizes.subarray(row, end), target.rows);
    columns.members.set(block.members.subarray(this.#member, this.#member + members), target.members);
    columns.masks?.set(block.masks.subarray(this.#member, this.#member + members), target.members);
    copyWeights(block.columns[0] as NumberColumn, row, end, columns.weights!, target.rows);
    target.rows += end - row;
    target.members += members;
    this.#member += members;
    this.row = end;
    if (end < block.rows) return;
    this.#index += 1;
    this.row = 0;
    this.#member = 0;
  }

  /**
   * Returns the index of the first row of `block`, after the current row, that does not come before
   * the given row of `other`. The current row itself is copied in any case.
   */
  #placeOf(block: ColumnBlock, other: ColumnBlock, otherRow: number): number {
    const [time, id] = [other.times[otherRow]!, other.ids[otherRow]!];
    let low = this.row + 1;
    let high = block.rows;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBelow(block, middle, time, id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Copies weights; null becomes NaN. */
function copyWeights(
  { nulls, values }: NumberColumn,
  from: number,
  to: number,
  target: Float64Array,
  at: number,
): void {
  for (let row = from; row < to; row++) target[at + row - from] = nulls[row] === 1 ? Number.NaN : values[row]!;
}
