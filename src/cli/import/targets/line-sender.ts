// Sends lines to a server as NDJSON bodies, and continues when the server refuses a body because of
// a single line.

import { type LineBatch, startOf } from '../line-batches.ts';
import { NoAnswer, ServerRefusal } from './server-client.ts';
import type { Intake } from './target.ts';

/** Sends a body and resolves with the number of its lines. */
type SendBody = (body: Uint8Array, key: string | undefined) => Promise<number>;

/** Returns which of the lines that remain after a refusal are to be sent. */
type Remaining = (
  batch: LineBatch,
  rest: readonly number[],
  refusal: ServerRefusal,
  intake: Intake,
) => readonly number[];

export class LineSender {
  readonly #body: SendBody;
  readonly #remaining: Remaining;

  constructor(body: SendBody, remaining: Remaining = (_batch, rest) => rest) {
    this.#body = body;
    this.#remaining = remaining;
  }

  /**
   * Sends lines as one body. When the server refuses a line, sends the others again, or with
   * `stopAtFirst` only the lines before it. A body that is too large is sent in halves.
   */
  async send(batch: LineBatch, lines: readonly number[], intake: Intake, key: string | undefined): Promise<number> {
    let kept = lines;
    while (kept.length > 0) {
      try {
        const once = key === undefined ? undefined : `${key}-${kept[0]}-${kept.length}`;
        return await this.#body(bodyOf(batch, kept), once);
      } catch (error) {
        if (!(error instanceof ServerRefusal)) throw doubt(error, batch, kept);
        if (error.status === 413) return this.#sendHalves(batch, kept, intake, error, key);
        const place = error.line;
        if (place === undefined || place < 1 || place > kept.length) throw error;
        intake.reject(batch, kept[place - 1]!, withoutFrame(error.message));
        if (intake.stopAtFirst) kept = kept.slice(0, place - 1);
        else {
          const rest = [...kept.slice(0, place - 1), ...kept.slice(place)];
          kept = this.#remaining(batch, rest, error, intake);
        }
      }
    }
    return 0;
  }

  async #sendHalves(
    batch: LineBatch,
    kept: readonly number[],
    intake: Intake,
    refusal: ServerRefusal,
    key: string | undefined,
  ): Promise<number> {
    if (kept.length === 1) {
      intake.reject(batch, kept[0]!, refusal.message);
      return 0;
    }
    const middle = kept.length >> 1;
    const first = await this.send(batch, kept.slice(0, middle), intake, key);
    if (intake.stopAtFirst && intake.hasRejected(batch)) return first;
    return first + (await this.send(batch, kept.slice(middle), intake, key));
  }
}

function doubt(error: unknown, batch: LineBatch, kept: readonly number[]): unknown {
  if (!(error instanceof NoAnswer)) return error;
  const first = batch.after(kept[0]! - 1).line;
  const last = batch.after(kept[kept.length - 1]! - 1).line;
  return new Error(
    `${error.message} It is not known whether lines ${first} to ${last} were inserted: all of them, or none.`,
  );
}

/** Returns the bytes of these lines, without a copy when they are the whole batch. */
function bodyOf(batch: LineBatch, lines: readonly number[]): Uint8Array {
  if (lines.length === batch.count) return batch.bytes;
  return Buffer.concat(lines.map((index) => batch.bytes.subarray(startOf(batch, index), batch.ends[index]! + 1)));
}

/** Removes from `Line 3: ... Nothing was inserted.` the parts that are about the whole body. */
function withoutFrame(detail: string): string {
  return detail.replace(/^Line \d+: /, '').replace(/ Nothing was (inserted|written)\.$/, '');
}
