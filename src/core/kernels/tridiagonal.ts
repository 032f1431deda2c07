// Computes the eigenvalues and eigenvectors of a symmetric tridiagonal matrix by QL with implicit
// shifts (Bowdler, Martin, Reinsch, Wilkinson 1968; EISPACK tql2).

export interface EigenPairs {
  /** In no particular order. */
  values: number[];
  /** vectors[i][j] is entry i of the eigenvector for values[j]. The vectors are orthonormal. */
  vectors: number[][];
}

/**
 * Computes all eigenpairs of the matrix with n entries in `diagonal` and n - 1 off-diagonal entries
 * in `off`. Throws if an eigenvalue does not converge in 60 rounds, which does not happen with
 * finite numbers.
 */
export function eigenPairs(diagonal: readonly number[], off: readonly number[]): EigenPairs {
  const n = diagonal.length;
  const values = [...diagonal];
  const beside = [...off.slice(0, n - 1), 0];
  const vectors = values.map((_, i) => values.map((_value, j) => (i === j ? 1 : 0)));
  for (let low = 0; low < n; low++) {
    for (let round = 0; ; round++) {
      const high = firstSplit(values, beside, low);
      if (high === low) break;
      if (round === 60) throw new Error('an eigenvalue of a tridiagonal matrix does not converge');
      sweep(values, beside, vectors, low, high);
    }
  }
  return { values, vectors };
}

/**
 * Returns the last index of the block that starts at `low`. A block ends where the next
 * off-diagonal entry is negligible, or at the end of the matrix.
 */
function firstSplit(values: number[], beside: number[], low: number): number {
  let at = low;
  while (at < values.length - 1) {
    const size = Math.abs(values[at]!) + Math.abs(values[at + 1]!);
    if (Math.abs(beside[at]!) <= Number.EPSILON * size) break;
    at++;
  }
  return at;
}

function sweep(values: number[], beside: number[], vectors: number[][], low: number, high: number): void {
  const slope = (values[low + 1]! - values[low]!) / (2 * beside[low]!);
  const length = Math.hypot(slope, 1);
  let g = values[high]! - values[low]! + beside[low]! / (slope + (slope < 0 ? -length : length));
  let sine = 1;
  let cosine = 1;
  let shift = 0;
  for (let i = high - 1; i >= low; i--) {
    const f = sine * beside[i]!;
    const b = cosine * beside[i]!;
    const radius = Math.hypot(f, g);
    beside[i + 1] = radius;
    if (radius === 0) {
      values[i + 1]! -= shift;
      beside[high] = 0;
      return;
    }
    sine = f / radius;
    cosine = g / radius;
    g = values[i + 1]! - shift;
    const r = (values[i]! - g) * sine + 2 * cosine * b;
    shift = sine * r;
    values[i + 1] = g + shift;
    g = cosine * r - b;
    for (const row of vectors) {
      const old = row[i + 1]!;
      row[i + 1] = sine * row[i]! + cosine * old;
      row[i] = cosine * row[i]! - sine * old;
    }
  }
  values[low]! -= shift;
  beside[low] = g;
  beside[high] = 0;
}
