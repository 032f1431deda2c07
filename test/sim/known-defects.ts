// Defects of the engine that the simulation finds and that are being mended. To be empty: a failure that an entry covers is counted, and is no failure.

import type { GoName } from './sim-goes.ts';

interface KnownDefect {
  /** The point of issue 15. */
  point: string;
  /** In the text of the failure. */
  pattern: RegExp;
  /** In these histories only. */
  go?: GoName;
}

export const KNOWN_DEFECTS: readonly KnownDefect[] = [];

/** The point of the issue that a failure belongs to. */
export function knownDefect(error: string, go: GoName): string | undefined {
  return KNOWN_DEFECTS.find((known) => known.pattern.test(error) && (known.go ?? go) === go)?.point;
}
