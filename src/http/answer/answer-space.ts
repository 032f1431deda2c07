// Reusable memory in which small answers are assembled: allocating memory for each answer would
// cost more than filling it.

const SPACE_BYTES = 128 * 1024;
/** Views shorter than this are cached: creating one costs about as much as copying ten rows. */
const KEPT_VIEWS = 8192;

export class AnswerSpace {
  /**
   * The next answer overwrites these bytes: fill them, take the view, and answer without yielding
   * in between.
   */
  readonly bytes: Uint8Array<ArrayBuffer> = new Uint8Array(SPACE_BYTES);
  readonly #views: (Uint8Array<ArrayBuffer> | undefined)[] = new Array(KEPT_VIEWS).fill(undefined);

  /** Returns the first `length` bytes. */
  view(length: number): Uint8Array<ArrayBuffer> {
    if (length >= KEPT_VIEWS) return new Uint8Array(this.bytes.buffer, 0, length);
    let view = this.#views[length];
    if (view === undefined) {
      view = new Uint8Array(this.bytes.buffer, 0, length);
      this.#views[length] = view;
    }
    return view;
  }
}
