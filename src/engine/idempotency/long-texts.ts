// Values by long texts, as a map has them. V8 takes the length alone for the hash of a text of more than 16,383 characters: a map of many of one length
// compares each with all before it, which takes seconds for a thousand that begin alike. So a long text is cut into chunks that V8 hashes whole, with the
// seed of the process; each distinct chunk has a number, and a text is known by the numbers of its chunks.

/** Longer texts belong here (String::kMaxHashCalcLength of V8). */
export const LONGEST_HASHED = 16_383;

export class LongTexts<V> {
  /** They stay when their texts are deleted. */
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
   * The numbers of a text's chunks, which cannot be those of another; undefined: one of them is not
   * known, and is not to be.
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
