// Puts numbers in an order, in slices of a few ms.

/** Runs of so many numbers are sorted at once. */
const RUN = 4096;

/** In an array of their own; numbers that compare as equal keep their order. Pauses with null. */
export function* sortedNumbers(
  numbers: Uint32Array,
  compare: (a: number, b: number) => number,
): Generator<null, Uint32Array, void> {
  let runs: Uint32Array[] = [];
  for (let from = 0; from < numbers.length; from += RUN) {
    runs.push(numbers.slice(from, from + RUN).sort(compare));
    yield null;
  }
  while (runs.length > 1) {
    const next: Uint32Array[] = [];
    for (let i = 0; i < runs.length; i += 2)
      next.push(i + 1 < runs.length ? yield* merged(runs[i]!, runs[i + 1]!, compare) : runs[i]!);
    runs = next;
  }
  return runs[0] ?? new Uint32Array(0);
}

function* merged(
  a: Uint32Array,
  b: Uint32Array,
  compare: (a: number, b: number) => number,
): Generator<null, Uint32Array, void> {
  const result = new Uint32Array(a.length + b.length);
  let i = 0;
  let j = 0;
  for (let at = 0; at < result.length; at++) {
    const takesLeft = j >= b.length || (i < a.length && compare(a[i]!, b[j]!) <= 0);
    result[at] = takesLeft ? a[i++]! : b[j++]!;
    if (at % RUN === RUN - 1) yield null;
  }
  return result;
}
