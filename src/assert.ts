// Asserts invariants where the code relies on them: a failed assertion is a bug in the code.

export function assert(condition: boolean, text: string): asserts condition {
  if (!condition) throw new Error(`assertion: ${text}`);
}
