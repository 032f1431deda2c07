// Known engine defects that the simulation finds and that are being fixed. A failure covered by an
// entry is counted but does not fail the run. The list should be empty.

import type { GoName } from './sim-goes.ts';

interface KnownDefect {
  /** Point of issue 15. */
  point: string;
  /** Matches the text of the failure. */
  pattern: RegExp;
  /** Restricts the entry to these histories. */
  go?: GoName;
}

export const KNOWN_DEFECTS: readonly KnownDefect[] = [];

/** The point of the issue that a failure belongs to; undefined if it is new. */
export function knownDefect(error: string, go: GoName): string | undefined {
  return KNOWN_DEFECTS.find((known) => known.pattern.test(error) && (known.go ?? go) === go)?.point;
}
