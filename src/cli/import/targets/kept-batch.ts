// Makes sure that a batch is committed to a data directory only once.

import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import type { AnswerToKeep, Database } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import type { LineBatch } from '../line-batches.ts';

export interface KeptCounts {
  readonly inserted: number;
  /** Of nodes: how many existed before. */
  readonly replaced?: number | undefined;
}

/**
 * A batch with its idempotency key. The answer stored by the same commit shows, even after a crash,
 * that the batch was committed.
 */
export class KeptBatch {
  readonly #database: Database;
  readonly #id: string;
  readonly #hash: string;

  constructor(database: Database, id: string, batch: LineBatch, stopAtFirst: boolean) {
    this.#database = database;
    this.#id = id;
    // A batch that ends at its first bad line differs from one that skips bad lines.
    this.#hash = createHash('sha256')
      .update(`${stopAtFirst}\n`)
      .update(batch.content?.() ?? batch.bytes)
      .digest('base64url');
  }

  /**
   * Returns the counts of the batch if it has already been committed; undefined if it has not.
   * Throws if another batch was committed under the same key.
   */
  countsBefore(): KeptCounts | undefined {
    const kept = this.#database.replays.find(this.#id);
    if (kept === undefined) return undefined;
    if (kept.bodyHash === this.#hash) return countsIn(kept.body);
    throw new HedgerowError(
      'idempotency_conflict',
      'The batch at which the import was interrupted was then read in another way. Give the same flags as for that import.',
    );
  }

  entry(counts: KeptCounts): AnswerToKeep {
    const body = JSON.stringify(counts);
    return { id: this.#id, bodyHash: this.#hash, status: 201, contentType: 'application/json', body, at: Date.now() };
  }
}

/**
 * Returns the counts in a stored answer. The answer to a batch is small, so its body is kept as
 * long as its key.
 */
function countsIn(body: string | null): KeptCounts {
  assert(body !== null, 'a small answer is kept as long as its key');
  return JSON.parse(body) as KeptCounts;
}
