// A buffer for JSON text. Values are written into it directly, without intermediate strings where
// possible.

/** Minimum size in bytes of a buffer. Node allocates a buffer of this size from its pool. */
const FIRST_BYTES = 4000;
/** Up to this length, copying in a loop is faster than a call into the buffer. */
const SHORT_TEXT = 32;
const LONGEST_INTEGER = 17;
const EMPTY = Buffer.alloc(0);
const ZERO = 48;
const MINUS = 45;
const COMMA = 44;

export class JsonSink {
  #buffer = EMPTY;
  #length = 0;
  /** Minimum size in bytes of the next buffer. */
  #room = FIRST_BYTES;

  get length(): number {
    return this.#length;
  }

  /** Returns the bytes written so far and empties the sink. */
  take(): Uint8Array {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = EMPTY;
    this.#room = Math.max(FIRST_BYTES, this.#length);
    this.#length = 0;
    return bytes;
  }

  byte(code: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = code;
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(length);
    const buffer = this.#buffer;
    const start = this.#length;
    if (length > SHORT_TEXT) buffer.set(bytes, start);
    else for (let i = 0; i < length; i++) buffer[start + i] = bytes[i]!;
    this.#length += length;
  }

  /** Appends text that is already JSON. */
  text(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += text.length > SHORT_TEXT ? this.#buffer.write(text, this.#length) : this.#short(text);
  }

  /** Writes a finite number; -0 becomes 0, as with JSON.stringify. */
  number(value: number): void {
    if (!Number.isSafeInteger(value)) {
      this.text(String(value));
      return;
    }
    this.#reserve(LONGEST_INTEGER);
    this.#length = writeInteger(this.#buffer, this.#length, value);
  }

  /** Writes a list of numbers. */
  numbers(values: ArrayLike<number>): void {
    this.byte(91);
    for (let i = 0; i < values.length; i++) {
      if (i > 0) this.byte(COMMA);
      this.number(values[i]!);
    }
    this.byte(93);
  }

  /** Writes a short text; returns the number of bytes. */
  #short(text: string): number {
    const buffer = this.#buffer;
    const start = this.#length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) return buffer.write(text, start);
      buffer[start + i] = code;
    }
    return text.length;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#room, 2 * needed));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

/** Writes a safe integer in decimal. Returns the offset after it. */
function writeInteger(into: Uint8Array, offset: number, value: number): number {
  let at = offset;
  let rest = value;
  if (rest < 0) {
    into[at++] = MINUS;
    rest = -rest;
  }
  if (rest < WORD) return writeWord(into, at, rest, digitsOf(rest));
  const high = Math.floor(rest / WORD);
  at = writeInteger(into, at, high);
  return writeWord(into, at, rest - high * WORD, WORD_DIGITS);
}

/** Numbers below this fit 32-bit integer arithmetic. */
const WORD = 1e9;
const WORD_DIGITS = 9;

function digitsOf(value: number): number {
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits += 1;
  return digits;
}

function writeWord(into: Uint8Array, offset: number, value: number, digits: number): number {
  let rest = value | 0;
  for (let at = offset + digits - 1; at >= offset; at--) {
    const tenth = (rest / 10) | 0;
    into[at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return offset + digits;
}
