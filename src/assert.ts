// What the code relies on, checked where it relies on it: a failed assertion is a fault of the code.

export function assert(condition: boolean, text: string): asserts condition {
  if (!condition) throw new Error(`assertion: ${text}`);
}
