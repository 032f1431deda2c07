// The tables used by the segment tests. They cover every width in the format and the ends of every
// range, and some resemble real tables.

import { COLUMNS, type Column, type Edge, edgeOf, randomTable, SAFE, type TableShape } from './model.ts';
import { type Random, randomFrom } from './random.ts';

export interface NamedTable {
  name: string;
  bucketSeconds: number;
  columns: readonly Column[];
  edges: Edge[];
  /** Expected widths in bytes: time, id, ordinal, node. */
  widths: [number, number, number, number];
}

const few = (random: Random) => 1 + random.below(5);
const smallNode = (random: Random) => random.below(80);

function table(
  name: string,
  seed: number,
  bucketSeconds: number,
  widths: NamedTable['widths'],
  shape: Partial<TableShape> & { rows: number },
): NamedTable {
  const whole: TableShape = {
    time: (random) => random.below(10_000),
    id: (_, row) => row,
    node: smallNode,
    members: few,
    columns: COLUMNS,
    sparsity: 2,
    ...shape,
  };
  return { name, bucketSeconds, columns: whole.columns, edges: randomTable(randomFrom(seed), whole), widths };
}

/** Returns the test tables. They are seeded, so every call returns the same tables. */
export function makeTables(): NamedTable[] {
  const weight = COLUMNS.slice(0, 1);
  return [
    { name: 'one row', bucketSeconds: 3600, columns: COLUMNS, edges: [edgeOf(-5, 12, [3])], widths: [4, 0, 2, 4] },
    {
      name: 'one row of 255 wide members at the ends of the range',
      bucketSeconds: 1,
      columns: COLUMNS,
      edges: [
        edgeOf(-SAFE, SAFE, [-SAFE, SAFE, ...Array.from({ length: 253 }, (_, i) => i * 1e13)], { 0: 0.1, 65535: SAFE }),
      ],
      widths: [4, 0, 2, 8],
    },
    table('dense ids in time order', 1, 100, [4, 0, 2, 4], {
      rows: 700,
      time: (_, row) => Math.floor(row / 3) - 50,
      id: (_, row) => row + 7,
    }),
    table('random times, u16 ids', 2, 500, [4, 2, 2, 4], { rows: 1000 }),
    table('u32 ids, values in every row', 3, 500, [4, 4, 2, 4], {
      rows: 500,
      id: (_, row) => row * 99_991,
      sparsity: 1,
    }),
    table('u64 ids, times and nodes, negative too', 4, 86_400, [8, 8, 2, 8], {
      rows: 400,
      time: (random) => Math.floor((random.unit() - 0.5) * 2 ** 53),
      id: (_, row) => (row - 200) * 2 ** 40,
      node: (random) => (random.below(60) - 30) * 2 ** 45,
    }),
    table('more than 65,536 nodes', 5, 3600, [4, 2, 4, 4], {
      rows: 3000,
      node: (random) => random.below(2 ** 31),
      members: () => 30,
      columns: weight,
    }),
    table('sparse buckets over 370 million seconds', 6, 5000, [4, 2, 2, 4], {
      rows: 900,
      time: (random) => random.below(370_000_000),
      columns: weight,
    }),
    table('all rows in one bucket, many equal times', 7, 1e9, [4, 2, 2, 4], {
      rows: 640,
      time: (random) => random.below(4),
    }),
    table('columns with null in all or nearly all rows', 8, 60, [4, 2, 2, 4], { rows: 129, sparsity: 100 }),
    table('65,536 rows, each in a bucket of its own', 9, 10, [4, 0, 2, 4], {
      rows: 65_536,
      time: (_, row) => (row - 30_000) * 10,
      node: (random) => random.below(500),
      members: (random) => 1 + random.below(3),
      columns: weight,
      sparsity: 3,
    }),
  ];
}
