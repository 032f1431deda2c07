// Reads the body of an answer some megabytes ahead of its consumer.
//
// If each chunk is awaited in turn, Node's fetch is slow and uses more and more memory: at every
// pause it puts back the data that it has read and then reads more (undici, in all versions tried).
// If a stream is read in bursts instead, it stays fast and its memory stays bounded.

/**
 * When MOST_BYTES are waiting to be taken, reading pauses; when only FEW_BYTES are left, it
 * continues. The last chunk may exceed MOST_BYTES.
 */
const MOST_BYTES = 4 * 2 ** 20;
const FEW_BYTES = 2 ** 20;
/** Number of chunks in a group. Chunks that were taken are released in groups. */
const MOST_TAKEN = 64;

/**
 * Yields the chunks of a body. If reading throws or the signal aborts, the error is thrown after
 * all chunks that arrived before it. Leaving the loop early cancels the body.
 */
export async function* readAhead(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  const ahead = new Ahead(reader);
  const abort = () => ahead.fail(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  void ahead.fill();
  try {
    for (let chunk = await ahead.take(); chunk !== undefined; chunk = await ahead.take()) yield chunk;
  } finally {
    signal.removeEventListener('abort', abort);
    ahead.stop();
    // Cancelling has no effect if the body was read to its end or broke off.
    reader.cancel().catch(() => {});
  }
}

class Ahead {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #taken = 0;
  #bytes = 0;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  /** `#onChunk` is called when a chunk has arrived, `#onRoom` when more chunks may be read. */
  #onChunk: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  async fill(): Promise<void> {
    try {
      while (!this.#ended) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        this.#chunks.push(value);
        this.#bytes += value.length;
        this.#onChunk?.();
        if (this.#bytes >= MOST_BYTES) await new Promise<void>((resolve) => (this.#onRoom = resolve));
      }
    } catch (error) {
      this.fail(error);
    }
    this.stop();
  }

  /** Ends reading with an error, unless it has ended already. */
  fail(error: unknown): void {
    if (!this.#ended) this.#failure = { error };
    this.stop();
  }

  /** Resolves to the next chunk, or to undefined after the last one. */
  async take(): Promise<Uint8Array | undefined> {
    while (this.#taken === this.#chunks.length) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#ended) return undefined;
      this.#chunks = [];
      this.#taken = 0;
      await new Promise<void>((resolve) => (this.#onChunk = resolve));
    }
    const chunk = this.#chunks[this.#taken]!;
    this.#taken++;
    this.#bytes -= chunk.length;
    if (this.#taken === MOST_TAKEN) {
      this.#chunks.splice(0, this.#taken);
      this.#taken = 0;
    }
    if (this.#bytes <= FEW_BYTES) this.#onRoom?.();
    return chunk;
  }

  stop(): void {
    this.#ended = true;
    this.#onChunk?.();
    this.#onRoom?.();
  }
}
