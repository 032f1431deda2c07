// Counts method calls while a function runs. This measures work independently of the load of the
// machine.

/**
 * Returns the number of calls of the given methods of a class while `run` runs, even if it throws.
 */
export function countCalls<T extends object>(prototype: T, methods: readonly (keyof T)[], run: () => void): number {
  let calls = 0;
  const originals = methods.map((name) => prototype[name] as (...args: unknown[]) => unknown);
  for (const [place, name] of methods.entries()) {
    const original = originals[place]!;
    const counted = function (this: unknown, ...args: unknown[]): unknown {
      calls++;
      return original.apply(this, args);
    };
    prototype[name] = counted as T[keyof T];
  }
  try {
    run();
  } finally {
    for (const [place, name] of methods.entries()) prototype[name] = originals[place] as T[keyof T];
  }
  return calls;
}
