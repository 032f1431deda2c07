// Writes JSON into one growing byte buffer that is reused, so that writing millions of small parts
// makes no garbage.

const FIRST_BYTES = 64 * 1024;
/** Parts up to this length are copied byte by byte, which is faster than a call to `set`. */
const SHORT_BYTES = 8;
/** Texts longer than this are escaped and copied by native code. */
const SHORT_TEXT = 48;
/** Maximum number of bytes that one UTF-16 unit needs in JSON, for example `\u001f`. */
const MOST_BYTES_A_UNIT = 6;
const BYTES_OF_NUMBER = 32;

export class JsonBytes {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  /** Number of bytes written since `begin`. */
  get length(): number {
    return this.#at;
  }

  /** Discards what was written. */
  begin(): void {
    this.#at = 0;
  }

  /** Appends bytes that are already JSON. */
  part(part: Uint8Array): void {
    const { length } = part;
    this.#reserve(length);
    if (length > SHORT_BYTES) this.#bytes.set(part, this.#at);
    else for (let index = 0; index < length; index++) this.#bytes[this.#at + index] = part[index]!;
    this.#at += length;
  }

  number(value: number): void {
    this.#reserve(BYTES_OF_NUMBER);
    if (value >= 0 && value < 2 ** 31 && (value | 0) === value) this.#digits(value | 0);
    else this.#ascii(`${value}`);
  }

  /** Appends a text as a JSON string, but without the quotation marks around it. */
  text(text: string): void {
    this.#reserve(MOST_BYTES_A_UNIT * text.length);
    if (text.length > SHORT_TEXT || !this.#plain(text))
      this.#at += this.#bytes.write(JSON.stringify(text).slice(1, -1), this.#at);
  }

  /** Returns the bytes written since `begin`, which are valid until the next `begin`. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  #digits(value: number): void {
    let digits = 1;
    for (let power = 10; digits < 10 && value >= power; power *= 10) digits++;
    let rest = value;
    for (let at = this.#at + digits - 1; at >= this.#at; at--) {
      const tenth = (rest / 10) | 0;
      this.#bytes[at] = 48 + rest - tenth * 10;
      rest = tenth;
    }
    this.#at += digits;
  }

  #ascii(text: string): void {
    for (let index = 0; index < text.length; index++) this.#bytes[this.#at + index] = text.charCodeAt(index);
    this.#at += text.length;
  }

  /** Writes the text if it is ASCII without escapes; otherwise writes nothing and returns false. */
  #plain(text: string): boolean {
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
      this.#bytes[this.#at + index] = code;
    }
    this.#at += text.length;
    return true;
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafe(Math.max(this.#at + count, 2 * this.#bytes.length));
    bytes.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = bytes;
  }
}
