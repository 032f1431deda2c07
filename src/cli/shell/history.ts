// Stores the statements of all sessions in a file of the user: one per line, the newest last, up to
// a limit.

import { appendFileSync, chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export const MOST_ENTRIES = 1000;
/** Longer statements are not stored. */
export const MOST_CHARACTERS = 10_000;
/** Readable by the user only, because statements may contain private data. */
const MODE = 0o600;

export class History {
  /** Newest first, as readline expects; changed in place. */
  readonly entries: string[] = [];
  readonly #path: string;
  /** False once the file could not be written; the shell then works without storing statements. */
  #isWritable = true;

  constructor(path: string) {
    this.#path = path;
    const lines = this.#read();
    this.entries.push(...lines.slice(-MOST_ENTRIES).reverse());
    if (lines.length > MOST_ENTRIES) this.#write(() => this.#rewrite());
  }

  /** Adds a statement, which must be on one line. */
  add(entry: string): void {
    if (entry === '' || entry.length > MOST_CHARACTERS) return;
    const known = this.entries.indexOf(entry);
    if (known >= 0) this.entries.splice(known, 1);
    this.entries.unshift(entry);
    this.entries.splice(MOST_ENTRIES);
    if (known === 0) return;
    this.#write(() => {
      appendFileSync(this.#path, `${entry}\n`, { mode: MODE });
      chmodSync(this.#path, MODE);
    });
  }

  #read(): string[] {
    try {
      return readFileSync(this.#path, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
    } catch {
      return [];
    }
  }

  #rewrite(): void {
    const draft = `${this.#path}.${process.pid}.tmp`;
    writeFileSync(
      draft,
      [...this.entries]
        .reverse()
        .map((entry) => `${entry}\n`)
        .join(''),
      { mode: MODE },
    );
    renameSync(draft, this.#path);
  }

  #write(work: () => void): void {
    if (!this.#isWritable) return;
    try {
      work();
    } catch {
      this.#isWritable = false;
    }
  }
}
