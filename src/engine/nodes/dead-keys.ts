// The keys of deleted nodes, for readers whose snapshot still shows them.
//
// The dictionary frees the key of a node that is deleted. A reader with an older snapshot finds the
// node here: the number that a key had at an LSN is that of the first node with the key which was
// deleted after this LSN; if there is none, it is the number in the dictionary. Deletions that no
// open snapshot can need are dropped when a snapshot is released and when their number has doubled,
// so that at most half of them, or 1,024, are there in vain.

import type { NodeKey } from '../../model/node-refs.ts';

interface Death {
  readonly number: number;
  readonly lsn: number;
}

/** Deletions that are kept without looking whether they are needed. */
const LEAST_CHECKED = 1024;

/** Approximate bytes in memory of a deletion, and of each UTF-16 unit of its key. */
const BYTES_OF_DEATH = 180;
const BYTES_OF_UNIT = 2;

export class DeadKeys {
  readonly #charge: (bytes: number) => void;
  /** Returns the LSN of the oldest state that is read or may be read from now on. */
  readonly #oldestSeen: () => number;
  /** By slot and key, in the order of their LSNs. */
  #deaths = new Map<string, Death[]>();
  #count = 0;
  #bytes = 0;
  #checkAt = LEAST_CHECKED;
  /** LSN of the newest deletion; states from there on need none of these keys. */
  #newestLsn = 0;
  /** States before this LSN are no longer known completely. */
  #knownFrom = 0;

  constructor(charge: (bytes: number) => void, oldestSeen: () => number) {
    this.#charge = charge;
    this.#oldestSeen = oldestSeen;
  }

  /** Approximate bytes in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a node that is deleted by the operation with this LSN. LSNs ascend. */
  add(slot: number, key: NodeKey, number: number, lsn: number): void {
    const name = nameOf(slot, key);
    const known = this.#deaths.get(name);
    if (known === undefined) this.#deaths.set(name, [{ number, lsn }]);
    else known.push({ number, lsn });
    this.#newestLsn = lsn;
    this.#count += 1;
    const bytes = bytesOf(name);
    this.#bytes += bytes;
    this.#charge(bytes);
    if (this.#count >= this.#checkAt) this.#drop(this.#oldestSeen());
  }

  /**
   * Returns the number of the deleted node that had a key at an LSN. Returns 0 if the node that the
   * dictionary finds, if any, is the one of that state; undefined if that is no longer known.
   */
  find(slot: number, key: NodeKey, lsn: number): number | undefined {
    if (lsn >= this.#newestLsn) return 0;
    if (lsn < this.#knownFrom) return undefined;
    for (const death of this.#deaths.get(nameOf(slot, key)) ?? []) if (death.lsn > lsn) return death.number;
    return 0;
  }

  /** Drops what is not needed any more. Call it when a snapshot of a state was released. */
  released(lsn: number): void {
    if (this.#count < LEAST_CHECKED || lsn >= this.#newestLsn) return;
    const oldest = this.#oldestSeen();
    if (oldest >= this.#newestLsn) this.#drop(oldest);
  }

  /** Drops the deletions up to an LSN. */
  #drop(seenLsn: number): void {
    if (seenLsn >= this.#newestLsn) {
      this.#deaths = new Map();
      this.#count = 0;
      this.#charge(-this.#bytes);
      this.#bytes = 0;
    } else {
      for (const [name, deaths] of this.#deaths) {
        const kept = deaths.filter(({ lsn }) => lsn > seenLsn);
        if (kept.length === deaths.length) continue;
        if (kept.length === 0) this.#deaths.delete(name);
        else this.#deaths.set(name, kept);
        const dropped = deaths.length - kept.length;
        this.#count -= dropped;
        this.#bytes -= dropped * bytesOf(name);
        this.#charge(-dropped * bytesOf(name));
      }
    }
    this.#knownFrom = Math.max(this.#knownFrom, Math.min(seenLsn, this.#newestLsn));
    this.#checkAt = Math.max(LEAST_CHECKED, 2 * this.#count);
  }
}

function nameOf(slot: number, key: NodeKey): string {
  return `${slot}:${key}`;
}

function bytesOf(name: string): number {
  return BYTES_OF_DEATH + BYTES_OF_UNIT * name.length;
}
