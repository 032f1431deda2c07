// A map whose keys are long strings.
//
// The hash that V8 computes for a string of more than 16,383 characters depends only on the
// string's length. In a plain Map with many such keys of equal length, each key is compared with
// all others, which takes seconds for a thousand keys with a common prefix. Therefore this map cuts
// strings into chunks that are short enough for V8 to hash completely (with its seed per process).
// Each distinct chunk gets a number, and the numbers of its chunks identify a string.

/** Strings longer than this should be stored in this map (String::kMaxHashCalcLength in V8). */
export const LONGEST_HASHED = 16_383;

export class LongTexts<V> {
  /** The number of each chunk. Chunks are kept when strings are deleted. */
  readonly #chunks = new Map<string, number>();
  readonly #values = new Map<string, V>();

  get size(): number {
    return this.#values.size;
  }

  get(text: string): V | undefined {
    const key = this.#keyOf(text, false);
    return key === undefined ? undefined : this.#values.get(key);
  }

  has(text: string): boolean {
    const key = this.#keyOf(text, false);
    return key !== undefined && this.#values.has(key);
  }

  set(text: string, value: V): void {
    this.#values.set(this.#keyOf(text, true)!, value);
  }

  delete(text: string): boolean {
    const key = this.#keyOf(text, false);
    return key !== undefined && this.#values.delete(key);
  }

  /**
   * Returns the chunk numbers of a string as text, which identifies the string uniquely. Adds
   * unknown chunks if `takes` is true; otherwise returns undefined if a chunk is unknown.
   */
  #keyOf(text: string, takes: boolean): string | undefined {
    let key = '';
    for (let at = 0; at < text.length; at += LONGEST_HASHED) {
      const chunk = text.slice(at, at + LONGEST_HASHED);
      let number = this.#chunks.get(chunk);
      if (number === undefined) {
        if (!takes) return undefined;
        number = this.#chunks.size;
        this.#chunks.set(chunk, number);
      }
      key += `${number} `;
    }
    return key;
  }
}
