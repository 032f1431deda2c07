// The last questions and how they were answered: what was retrieved, derived, generated and stripped. In memory only, and packed.

import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { refusal } from '../errors.ts';

const pack = promisify(deflate);
const unpack = promisify(inflate);

/** As the contract says. */
const MOST_INTERACTIONS = 1000;
/** Packed; an interaction takes some kilobytes. */
const MOST_BYTES = 128 * 2 ** 20;

interface Kept {
  readonly bytes: Buffer;
  /** The key that asked; null: none was needed. */
  readonly keyId: string | null;
}

export class Interactions {
  /** By id, oldest first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** `value` is anything JSON can hold. */
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

  /** JSON text. `keyId`: only what this key asked; undefined: what anybody did. Rejects `interaction_not_found`, also for those of others: nobody learns of them. */
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
