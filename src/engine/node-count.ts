// How many distinct nodes a table holds (index and log; nodes of tombstoned edges until compaction), counted when asked and kept.

import type { Table } from './table.ts';
import type { Version } from './version.ts';

interface Counted {
  segments: Version['segments'];
  /** Distinct nodes of all segments, ascending. */
  nodes: Float64Array;
  /** What the memtables hold: every row in them is newer than this, and they had so many. */
  appliedLsn: number;
  memtableRows: number;
  count: number;
}

export class NodeCounter {
  readonly #counted = new WeakMap<Table, Counted>();

  /** Cost: one merge of the dictionaries after a compaction, one pass over the log's nodes after a write. */
  count(table: Table): number {
    if (table.corrupt !== null || table.dropped) return 0;
    const { version } = table;
    const rows = version.memtables.reduce((sum, { memtable }) => sum + memtable.rows, 0);
    const known = this.#counted.get(table);
    const same = known !== undefined && sameSegments(known.segments, version.segments);
    if (same && known.appliedLsn === table.appliedLsn && known.memtableRows === rows) return known.count;
    const nodes = same ? known.nodes : mergeDictionaries(table);
    const fresh = new Set<number>();
    for (const { memtable } of version.memtables) {
      if (memtable.rows === 0) continue;
      for (const node of memtable.nodeIds()) if (!contains(nodes, node)) fresh.add(node);
    }
    const count = nodes.length + fresh.size;
    this.#counted.set(table, {
      segments: version.segments,
      nodes,
      appliedLsn: table.appliedLsn,
      memtableRows: rows,
      count,
    });
    return count;
  }
}

function sameSegments(a: Version['segments'], b: Version['segments']): boolean {
  return a === b || (a.length === b.length && a.every((segment, index) => segment === b[index]));
}

function mergeDictionaries(table: Table): Float64Array {
  let merged = new Float64Array(0);
  for (const segment of table.version.segments) merged = union(merged, table.resident(segment).nodeIds());
  return merged;
}

function union(a: Float64Array, b: Float64Array): Float64Array<ArrayBuffer> {
  const out = new Float64Array(a.length + b.length);
  let i = 0;
  let j = 0;
  let n = 0;
  while (i < a.length && j < b.length) {
    const left = a[i]!;
    const right = b[j]!;
    out[n++] = Math.min(left, right);
    if (left <= right) i++;
    if (right <= left) j++;
  }
  while (i < a.length) out[n++] = a[i++]!;
  while (j < b.length) out[n++] = b[j++]!;
  return out.slice(0, n);
}

function contains(sorted: Float64Array, value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
