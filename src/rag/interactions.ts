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

export class Interactions {
  /** By id, oldest first. */
  readonly #kept = new Map<string, Buffer>();
  #bytes = 0;

  /** `value` is anything JSON can hold. */
  async keep(id: string, value: object): Promise<void> {
    const bytes = await pack(JSON.stringify(value));
    this.#kept.set(id, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#kept.size <= MOST_INTERACTIONS && this.#bytes <= MOST_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
  }

  /** JSON text. Rejects `interaction_not_found`. */
  async text(id: string): Promise<string> {
    const bytes = this.#kept.get(id);
    if (bytes !== undefined) return (await unpack(bytes)).toString();
    throw refusal(
      'interaction_not_found',
      `There is no interaction ${JSON.stringify(id.slice(0, 100))}. The last ${MOST_INTERACTIONS} are kept until a restart.`,
    );
  }
}
