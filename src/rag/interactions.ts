// The most recent questions and how they were answered: what was retrieved, derived, generated and
// stripped. Kept in memory only, compressed.

import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { refusal } from '../errors.ts';

const pack = promisify(deflate);
const unpack = promisify(inflate);

/** Required by the contract. */
const MOST_INTERACTIONS = 1000;
/** Compressed size; one interaction takes a few kilobytes. */
const MOST_BYTES = 128 * 2 ** 20;

interface Kept {
  readonly bytes: Buffer;
  /** The key that asked; null if none was needed. */
  readonly keyId: string | null;
}

export class Interactions {
  /** By id, oldest first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** `value` is any object that JSON can represent. */
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
   * The interaction as JSON text. `keyId`: only if this key asked; undefined: whoever asked.
   * Rejects with `interaction_not_found`, also for interactions of other keys, so that nobody
   * learns of them.
   */
  async text(id: string, keyId: string | null | undefined): Promise<string> {
    const kept = this.#kept.get(id);
    if (kept !== undefined && (keyId === undefined || kept.keyId === keyId))
      return (await unpack(kept.bytes)).toString();
    throw refusal(
      'interaction_not_found',
      `There is no interaction ${JSON.stringify(id.slice(0, 100))} of this key. The last ${MOST_INTERACTIONS} are kept until a restart; ask with the key that made it, or as admin.`,
    );
  }
}
