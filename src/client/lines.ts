// Cuts the chunks of a stream into lines of text.

export class LineSplitter {
  readonly #decoder = new TextDecoder();
  /**
   * The parts of a line that has not ended yet. A line may be several megabytes long, so each part
   * is searched for a line break only once, however many chunks the line arrives in.
   */
  #begun: string[] = [];

  /** Returns the lines that end in this chunk, without their line breaks. */
  add(chunk: Uint8Array): string[] {
    const lines = this.#decoder.decode(chunk, { stream: true }).split('\n');
    const rest = lines.pop()!;
    if (lines.length > 0) {
      lines[0] = this.#begun.join('') + lines[0];
      this.#begun = [];
    }
    if (rest !== '') this.#begun.push(rest);
    return lines;
  }

  /** True if the last line has no line break yet. */
  get isInLine(): boolean {
    return this.#begun.length > 0;
  }
}
