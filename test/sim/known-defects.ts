// Known engine defects that the simulation finds and that are being fixed. A failure that matches
// an entry is counted, but does not make the run fail. The list should be empty.

import type { GoName } from './sim-goes.ts';

interface KnownDefect {
  /** Name of the group of defects. */
  point: string;
  /** Matches the text of the failure. */
  pattern: RegExp;
  /** Restricts the entry to histories of this kind. */
  go?: GoName;
}

export const KNOWN_DEFECTS: readonly KnownDefect[] = [];

/** Returns the group of defects to which a failure belongs, or undefined if the failure is new. */
export function knownDefect(error: string, go: GoName): string | undefined {
  return KNOWN_DEFECTS.find((known) => known.pattern.test(error) && (known.go ?? go) === go)?.point;
}
