// Types for code that inspects files without opening a database: the tools it needs, and the form
// in which it reports problems.

import type { CoreModule } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { Crc32c, Fs } from '../../storage/index.ts';

export interface FileTools {
  readonly fs: Fs;
  readonly crc32c: Crc32c;
  readonly core: CoreModule;
}

/** A place in a file whose bytes differ from what was written. */
export interface Problem {
  file: string;
  offset: number;
  what: string;
}

/** Returns the problem that a `corrupt` error reports; throws any other error again. */
export function problemOf(error: unknown, file: string): Problem {
  if (!(error instanceof HedgerowError) || error.code !== 'corrupt') throw error;
  const { file: named, offset } = error.fields ?? {};
  return {
    file: typeof named === 'string' ? named : file,
    offset: typeof offset === 'number' ? offset : 0,
    what: error.message,
  };
}
