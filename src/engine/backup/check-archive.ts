// Checks a backup file before anything from it is written to disk: every entry must be an expected
// one, none may be missing, and every checksum must match.

import { createHash } from 'node:crypto';
import { type BackupFacts, noBackup, readBackupFacts } from './about-backup.ts';
import { ABOUT_NAME, isDataName, SUMS_NAME } from './archive-names.ts';
import { type ReadOptions, readArchive, readFailure, textOf } from './read-archive.ts';
import type { TarEntry } from './tar.ts';

/** A backup file whose contents have been verified. */
export interface CheckedArchive {
  facts: BackupFacts;
  /** SHA-256 in hex of each file of the data directory, by name. */
  sums: ReadonlyMap<string, string>;
}

const MOST_ABOUT_BYTES = 2 ** 26;
const MOST_SUMS_BYTES = 2 ** 30;

/** Checks the backup, reading the file once. Rejects with `invalid_input` and the reason. */
export async function checkArchive(options: ReadOptions): Promise<CheckedArchive> {
  const contents = new Contents();
  try {
    await readArchive(options, (entry) => contents.add(entry));
  } catch (error) {
    throw readFailure(error, options.path);
  }
  return contents.finish();
}

class Contents {
  #facts: BackupFacts | undefined;
  /** The computed SHA-256 of each entry read so far, by name. */
  readonly #found = new Map<string, string>();
  #listed: string | undefined;

  async add(entry: TarEntry): Promise<void> {
    const { name, isFile, content } = entry;
    if (!isFile) throw noBackup(`its entry ${JSON.stringify(name)} is not a regular file`);
    if (this.#listed !== undefined) throw noBackup(`the entry ${JSON.stringify(name)} comes after the last one`);
    if (this.#found.has(name)) throw noBackup(`it has two entries ${name}`);
    if (this.#facts === undefined) {
      if (name !== ABOUT_NAME) throw noBackup(`it does not begin with ${ABOUT_NAME}`);
      const text = await textOf(entry, MOST_ABOUT_BYTES);
      this.#facts = readBackupFacts(text);
      this.#found.set(name, createHash('sha256').update(text).digest('hex'));
    } else if (name === SUMS_NAME) {
      this.#listed = await textOf(entry, MOST_SUMS_BYTES);
    } else {
      if (!isDataName(name)) throw noBackup(`its entry ${JSON.stringify(name)} is not a file of a database`);
      const hash = createHash('sha256');
      for await (const piece of content) hash.update(piece);
      this.#found.set(name, hash.digest('hex'));
    }
  }

  finish(): CheckedArchive {
    if (this.#facts === undefined) throw noBackup('it is empty');
    if (this.#listed === undefined) throw noBackup(`it does not end with ${SUMS_NAME}`);
    const listed = parseSums(this.#listed);
    for (const [name, sum] of this.#found) {
      if (!listed.has(name)) throw noBackup(`${SUMS_NAME} does not list ${name}`);
      if (listed.get(name) !== sum) throw noBackup(`the sum of ${name} is not the one that ${SUMS_NAME} lists`);
    }
    for (const name of listed.keys())
      if (!this.#found.has(name)) throw noBackup(`${name} is listed, but missing from the file`);
    const sums = new Map(this.#found);
    sums.delete(ABOUT_NAME);
    return { facts: this.#facts, sums };
  }
}

function parseSums(text: string): Map<string, string> {
  const sums = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const found = /^([0-9a-f]{64}) {2}(.+)$/.exec(line);
    if (found === null || sums.has(found[2]!)) throw noBackup(`${SUMS_NAME} has the line ${JSON.stringify(line)}`);
    sums.set(found[2]!, found[1]!);
  }
  if (!text.endsWith('\n')) throw noBackup(`${SUMS_NAME} does not end with a line`);
  return sums;
}
