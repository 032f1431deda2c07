// In which order the edges of several nodes are looked for: those that hold most of them first.

/** Edges that hold all nodes of one way. */
export type Way = readonly number[];

export interface Level {
  /** Every edge that was not found on an earlier level and holds any node is found on one of these, or on a later level's. */
  readonly ways: readonly Way[];
  /** The share of the named nodes that an edge not yet found holds, at most. */
  readonly share: number;
}

/** With more nodes their subsets are too many: all together, then one by one. */
const MOST_SUBSETS_OF = 4;

/** Without nodes there is one way: all edges. */
export function levelsOf(nodes: readonly number[]): Level[] {
  const count = nodes.length;
  if (count === 0) return [{ ways: [[]], share: 0 }];
  const ones = nodes.map((node) => [node]);
  if (count === 1) return [{ ways: ones, share: 1 }];
  if (count > MOST_SUBSETS_OF)
    return [
      { ways: [nodes], share: 1 },
      { ways: ones, share: (count - 1) / count },
    ];
  const levels: Level[] = [];
  for (let size = count; size >= 1; size--) levels.push({ ways: subsets(nodes, size), share: size / count });
  return levels;
}

function subsets(nodes: readonly number[], size: number): number[][] {
  if (size === 0) return [[]];
  return nodes.flatMap((node, place) => subsets(nodes.slice(place + 1), size - 1).map((rest) => [node, ...rest]));
}
