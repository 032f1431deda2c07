// The statements of earlier sessions, in a file of the person's own: one a line, the newest last,
// of limited length.

import { appendFileSync, chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export const MOST_ENTRIES = 1000;
/** Longer statements are not kept. */
export const MOST_CHARACTERS = 10_000;
/** For the person alone: statements may name what is nobody else's business. */
const MODE = 0o600;

export class History {
  /** Newest first, as readline wants them; changed in place. */
  readonly entries: string[] = [];
  readonly #path: string;
  /** Nothing is kept when the file cannot be written; the shell works on. */
  #isWritable = true;

  constructor(path: string) {
    this.#path = path;
    const lines = this.#read();
    this.entries.push(...lines.slice(-MOST_ENTRIES).reverse());
    if (lines.length > MOST_ENTRIES) this.#write(() => this.#rewrite());
  }

  /** `entry`: on one line. */
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
