// Checks the file that a COPY names before any work is done: its path below the copy root, and its
// format.

import { HedgerowError } from '../../errors.ts';
import { type Fs, joined, type PathRules, pathBelow } from '../../storage/index.ts';

export type FileFormat = 'csv' | 'ndjson' | 'parquet';

export interface CopyFile {
  /** Absolute path without symbolic links. */
  readonly path: string;
  readonly format: FileFormat;
  /** Whether the file is compressed with gzip. */
  readonly packed: boolean;
}

type Looks = Pick<Fs, 'kindOf' | 'realPath'>;

const RULES: PathRules = { rootName: 'the copy root', refused };

const ENDINGS: readonly (readonly [ending: string, format: FileFormat, packed: boolean])[] = [
  ['.csv', 'csv', false],
  ['.csv.gz', 'csv', true],
  ['.ndjson', 'ndjson', false],
  ['.ndjson.gz', 'ndjson', true],
  ['.jsonl', 'ndjson', false],
  ['.jsonl.gz', 'ndjson', true],
  ['.parquet', 'parquet', false],
];

/**
 * Returns the file to read. Throws `forbidden` if there is no root. Throws `invalid_input` for a
 * path that leaves the root, contains a link, does not name a file, or has an unknown ending.
 */
export function sourceFile(fs: Looks, root: string | undefined, given: string): CopyFile {
  const { file, kind } = locate(fs, root, given);
  if (kind === null) throw refused(`names ${JSON.stringify(given)}, but there is no such file`);
  if (kind !== 'file') throw refused(`names ${JSON.stringify(given)}, which is not a file`);
  return file;
}

/**
 * Returns the file to create. Throws `file_exists` if the path exists, and `forbidden` or
 * `invalid_input` like `sourceFile`, except that the file need not exist.
 */
export function newFile(fs: Looks, root: string | undefined, given: string): CopyFile {
  const { file, kind } = locate(fs, root, given);
  if (kind !== null) throw inTheWay(file.path);
  return file;
}

export function inTheWay(path: string): HedgerowError {
  return new HedgerowError(
    'file_exists',
    `${path} exists already and is not overwritten. Take another name, or remove it first.`,
  );
}

function locate(
  fs: Looks,
  root: string | undefined,
  given: string,
): { file: CopyFile; kind: ReturnType<Looks['kindOf']> } {
  if (root === undefined) {
    throw new HedgerowError(
      'forbidden',
      'COPY is turned off: set the copy root, the directory below which it may read and write, and start again.',
      { fields: { settings: ['copyRoot'] } },
    );
  }
  const { realRoot, parts } = pathBelow(fs, root, given, RULES);
  const name = parts[parts.length - 1]?.toLowerCase() ?? '';
  const found = ENDINGS.find(([ending]) => name.endsWith(ending) && name.length > ending.length);
  if (found === undefined) throw refused(`ends with none of ${ENDINGS.map(([ending]) => ending).join(', ')}`);
  const [, format, packed] = found;
  let path = realRoot;
  let kind: ReturnType<Looks['kindOf']> = 'directory';
  for (const part of parts) {
    // COPY creates the root if it is missing, but not the directories below it.
    if (path !== realRoot && kind !== 'directory')
      throw refused(`names ${JSON.stringify(given)}, but there is no directory ${path}`);
    path = joined(path, part);
    kind = fs.kindOf(path);
    if (kind === 'link') throw refused(`goes over a link at ${JSON.stringify(part)}; COPY follows none`);
  }
  return { file: { path, format, packed }, kind };
}

function refused(msg: string): HedgerowError {
  return new HedgerowError('invalid_input', `The path in COPY ${msg}. Name a file below the copy root.`, {
    fields: { settings: ['copyRoot'] },
  });
}
