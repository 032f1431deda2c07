// Records the most recent questions with what was retrieved, derived, generated and stripped. The
// records are compressed and only in memory.

import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { refusal } from '../errors.ts';

const pack = promisify(deflate);
const unpack = promisify(inflate);

/** Maximum number of interactions, which the API documents. */
const MOST_INTERACTIONS = 1000;
/** Maximum compressed size of all interactions. One takes a few kilobytes. */
const MOST_BYTES = 128 * 2 ** 20;

interface Kept {
  readonly bytes: Buffer;
  /** Id of the API key with which the question was asked; null if no key was needed. */
  readonly keyId: string | null;
}

export class Interactions {
  /** Interactions by id, oldest first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** Stores an interaction. `value` is any object that JSON can represent. */
  async keep(id: string, value: object, keyId: string | null): Promise<void> {
    const bytes = await pack(JSON.stringify(value));
    this.#kept.set(id, { bytes, keyId });
    this.#bytes += bytes.length;
    for (const [oldest, kept] of this.#kept) {
      if (this.#kept.size <= MOST_INTERACTIONS && this.#bytes <= MOST_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= kept.bytes.length;
    }
  }

  /**
   * Returns an interaction as JSON text. If `keyId` is given, the question must have been asked
   * with that key. Rejects with `interaction_not_found`, also for the interaction of another key,
   * so that callers do not learn that it exists.
   */
  async text(id: string, keyId: string | null | undefined): Promise<string> {
    const kept = this.#kept.get(id);
    if (kept !== undefined && (keyId === undefined || kept.keyId === keyId))
      return (await unpack(kept.bytes)).toString();
    throw refusal(
      'interaction_not_found',
      `There is no interaction ${JSON.stringify(id.slice(0, 100))} that this key may read. The last ${MOST_INTERACTIONS} are kept until the server restarts. Use the key that asked the question, or an admin key.`,
    );
  }
}
