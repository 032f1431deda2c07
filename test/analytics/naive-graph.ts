// Plain graphs as matrices, and textbook measures of them.

/** Symmetric: matrix[a][b] is the weight of the pair, or 0 if the two vertices are not joined. */
export type Matrix = number[][];

export function zeros(n: number): Matrix {
  return Array.from({ length: n }, () => new Array<number>(n).fill(0));
}

/** Returns the distances by the Floyd-Warshall algorithm; Infinity for unreachable pairs. */
export function allDistances(graph: Matrix): Matrix {
  const n = graph.length;
  const d = graph.map((row, a) => row.map((weight, b) => (a === b ? 0 : weight > 0 ? 1 : Infinity)));
  for (let k = 0; k < n; k++)
    for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) d[a]![b] = Math.min(d[a]![b]!, d[a]![k]! + d[k]![b]!);
  return d;
}

/** Returns the number of shortest paths from a to b, counted backwards from b. */
function pathCounts(graph: Matrix, d: Matrix): Matrix {
  const n = graph.length;
  const counts = zeros(n);
  for (let a = 0; a < n; a++) {
    const order = [...Array(n).keys()].filter((b) => Number.isFinite(d[a]![b]!)).sort((x, y) => d[a]![x]! - d[a]![y]!);
    for (const b of order) {
      if (b === a) counts[a]![b] = 1;
      else
        for (let c = 0; c < n; c++)
          if (graph[c]![b]! > 0 && d[a]![c]! + 1 === d[a]![b]!) counts[a]![b]! += counts[a]![c]!;
    }
  }
  return counts;
}

/** Returns the betweenness of each vertex: a sum over unordered pairs, not normalized. */
export function betweenness(graph: Matrix): number[] {
  const d = allDistances(graph);
  const paths = pathCounts(graph, d);
  return graph.map((_, v) => {
    let sum = 0;
    for (let a = 0; a < graph.length; a++)
      for (let b = a + 1; b < graph.length; b++)
        if (a !== v && b !== v && Number.isFinite(d[a]![b]!) && d[a]![v]! + d[v]![b]! === d[a]![b]!)
          sum += (paths[a]![v]! * paths[v]![b]!) / paths[a]![b]!;
    return sum;
  });
}

export function closeness(graph: Matrix): number[] {
  return allDistances(graph).map((row, v) => {
    const others = row.filter((distance, w) => w !== v && Number.isFinite(distance));
    const sum = others.reduce((a, b) => a + b, 0);
    return sum === 0 ? 0 : (others.length / (graph.length - 1)) * (others.length / sum);
  });
}

export function harmonic(graph: Matrix): number[] {
  return allDistances(graph).map((row, v) => row.reduce((sum, d, w) => (w === v ? sum : sum + 1 / d), 0));
}

export function groupsOf(graph: Matrix): number[][] {
  const d = allDistances(graph);
  const groups: number[][] = [];
  for (let v = 0; v < graph.length; v++)
    if (d[v]!.findIndex(Number.isFinite) === v)
      groups.push([...graph.keys()].filter((w) => Number.isFinite(d[v]![w]!)));
  return groups;
}

export function localClustering(graph: Matrix): number[] {
  return graph.map((row) => {
    const near = [...row.keys()].filter((w) => row[w]! > 0);
    if (near.length < 2) return 0;
    let joined = 0;
    for (const a of near) for (const b of near) if (a < b && graph[a]![b]! > 0) joined++;
    return joined / ((near.length * (near.length - 1)) / 2);
  });
}

export function cores(graph: Matrix): number[] {
  const result = graph.map(() => 0);
  for (let k = 1; k < graph.length; k++) {
    const alive = new Set(graph.keys());
    for (let some = true; some; ) {
      some = false;
      for (const v of alive) if ([...alive].filter((w) => graph[v]![w]! > 0).length < k) some = alive.delete(v);
    }
    for (const v of alive) result[v] = k;
  }
  return result;
}

export function largestClique(graph: Matrix, chosen = 0, candidates = [...graph.keys()]): number {
  let best = chosen;
  for (const [i, v] of candidates.entries())
    best = Math.max(
      best,
      largestClique(
        graph,
        chosen + 1,
        candidates.slice(i + 1).filter((w) => graph[v]![w]! > 0),
      ),
    );
  return best;
}

/**
 * Returns the eigenvalues of a symmetric matrix in ascending order. Applies Jacobi rotations until
 * the off-diagonal part vanishes.
 */
export function eigenvalues(matrix: Matrix): number[] {
  const a = matrix.map((row) => [...row]);
  const n = a.length;
  for (let sweep = 0; sweep < 60; sweep++) {
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        if (Math.abs(a[p]![q]!) < 1e-300) continue;
        const theta = (a[q]![q]! - a[p]![p]!) / (2 * a[p]![q]!);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        for (let k = 0; k < n; k++) {
          const [x, y] = [a[k]![p]!, a[k]![q]!];
          a[k]![p] = c * x - s * y;
          a[k]![q] = s * x + c * y;
        }
        for (let k = 0; k < n; k++) {
          const [x, y] = [a[p]![k]!, a[q]![k]!];
          a[p]![k] = c * x - s * y;
          a[q]![k] = s * x + c * y;
        }
      }
  }
  return a.map((row, i) => row[i]!).sort((x, y) => x - y);
}

/**
 * Solves x = alpha P^T x + (1 - alpha) / n by power iteration. The rows of P are `weights` scaled
 * to a sum of 1, including the diagonal. A row of zeros is replaced by a uniform row.
 */
export function pageRank(weights: Matrix, alpha: number): number[] {
  const n = weights.length;
  const sums = weights.map((row) => row.reduce((a, b) => a + b, 0));
  let x = new Array<number>(n).fill(1 / n);
  for (let round = 0; round < 2000; round++) {
    const next = new Array<number>(n).fill((1 - alpha) / n);
    for (let v = 0; v < n; v++)
      for (let w = 0; w < n; w++) next[w]! += alpha * x[v]! * (sums[v] === 0 ? 1 / n : weights[v]![w]! / sums[v]!);
    x = next;
  }
  return x;
}
