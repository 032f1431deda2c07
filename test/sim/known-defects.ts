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

export const KNOWN_DEFECTS: readonly KnownDefect[] = [
  { point: '1 (torn commit)', pattern: /^unexplained-lsn/, go: 'memory' },
  { point: '1 (short memory is no bug)', pattern: /^wrong-error: compact .*The core answered -1/, go: 'memory' },
  {
    point: '10 (segments without manifest and log)',
    pattern: /^damage-silent-\w+(-killed)?: the log( and the manifest)? is missing/,
  },
  { point: '2 (a log that was cut)', pattern: /^damage-silent-log: .*(is cut|is missing|is zero|are swapped)/ },
  { point: '2 (a log that was cut)', pattern: /^damage-silent-log-killed/ },
  { point: '13 (verify does not name what the opening refuses)', pattern: /^verify-silent/ },
  { point: '9 (answers go for their bytes)', pattern: /^answer-lost-for-bytes/ },
  { point: '12 (a full disk refuses until a restart)', pattern: /^full-for-ever/ },
  { point: '13 (total_records counts what is not acknowledged)', pattern: /^count-under-way/ },
];

/** The point of the issue that a failure belongs to. */
export function knownDefect(error: string, go: GoName): string | undefined {
  return KNOWN_DEFECTS.find((known) => known.pattern.test(error) && (known.go ?? go) === go)?.point;
}
