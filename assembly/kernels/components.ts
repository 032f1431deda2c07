// Connected components by union and find: a forest whose roots are the least of their tree (u32 parents, itself at first).

export function rootOf(parents: usize, vertex: u32): u32 {
  let parent = load<u32>(parents + ((<usize>vertex) << 2));
  while (parent != vertex) {
    const above = load<u32>(parents + ((<usize>parent) << 2));
    store<u32>(parents + ((<usize>vertex) << 2), above); // path halving
    vertex = above;
    parent = load<u32>(parents + ((<usize>vertex) << 2));
  }
  return vertex;
}

/** Joins the trees of a and b; returns the root of both. */
export function unite(parents: usize, a: u32, b: u32): u32 {
  const rootA = rootOf(parents, a);
  const rootB = rootOf(parents, b);
  const low = min(rootA, rootB);
  store<u32>(parents + ((<usize>max(rootA, rootB)) << 2), low);
  return low;
}

/** Every vertex in [from, to) its own tree. */
export function separate(parents: usize, from: u32, to: u32): void {
  for (let vertex = from; vertex < to; vertex++) store<u32>(parents + ((<usize>vertex) << 2), vertex);
}

/** Replaces the parents of [from, to) by their roots; everything before `from` is done. */
export function labelRoots(parents: usize, from: u32, to: u32): void {
  for (let vertex = from; vertex < to; vertex++) {
    const at = parents + ((<usize>vertex) << 2);
    store<u32>(at, load<u32>(parents + ((<usize>load<u32>(at)) << 2)));
  }
}

/** Joins all rows of each item in [from, to): rows that share at least one item. */
export function joinItems(itemStarts: usize, itemRows: usize, from: u32, to: u32, parents: usize): void {
  for (let item = from; item < to; item++) {
    const start = itemStarts + ((<usize>item) << 2);
    const end = itemRows + ((<usize>load<u32>(start, 4)) << 2);
    let at = itemRows + ((<usize>load<u32>(start)) << 2);
    if (at == end) continue;
    const first = load<u32>(at);
    for (at += 4; at < end; at += 4) unite(parents, first, load<u32>(at));
  }
}

/** Joins the ends of every arc of the vertices in [from, to). */
export function joinArcs(starts: usize, neighbours: usize, from: u32, to: u32, parents: usize): void {
  for (let vertex = from; vertex < to; vertex++) {
    const start = starts + ((<usize>vertex) << 2);
    const end = neighbours + ((<usize>load<u32>(start, 4)) << 2);
    for (let at = neighbours + ((<usize>load<u32>(start)) << 2); at < end; at += 4) {
      const other = load<u32>(at);
      if (other > vertex) unite(parents, vertex, other);
    }
  }
}
