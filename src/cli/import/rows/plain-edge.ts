// Reads the most common form of a line, `{"event_ts":1,"members":[2,3]}`, directly from its bytes,
// several times as fast as JSON.parse.
//
// A line is accepted only when the result is certainly the same as that of JSON.parse. It must have
// exactly these two keys in this order, at least one member, and integers of at most 15 digits
// without leading zeros, fraction or exponent. Spaces may occur wherever JSON allows them, except
// before and within `{"event_ts":` and within `"members":`. All other lines are left to JSON.parse.

export interface PlainEdge {
  event_ts: number;
  /** In the order of the line, repetitions included. */
  members: number[];
}

const BEFORE_TIME = Buffer.from('{"event_ts":');
const BEFORE_MEMBERS = Buffer.from('"members":');
const MOST_DIGITS = 15;
const SPACE = 32;
const CARRIAGE_RETURN = 13;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const CLOSE_BRACE = 125;

export class PlainEdgeReader {
  /** The result of the last `read` that returned true. `members` is a new array each time. */
  readonly edge: PlainEdge = { event_ts: 0, members: [] };
  /** Position after the integer that was read last; -1 when no plain integer was found. */
  private at = 0;

  /**
   * Reads bytes [from, to). Returns false when the line has another form; `edge` is then not
   * meaningful. The byte at `to` must not be a digit (it is the newline).
   */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    let at = skipText(bytes, from, BEFORE_TIME);
    if (at < 0) return false;
    this.edge.event_ts = this.readInteger(bytes, skipSpaces(bytes, at));
    if (this.at < 0) return false;
    at = skipSpaces(bytes, this.at);
    if (bytes[at] !== COMMA) return false;
    at = skipText(bytes, skipSpaces(bytes, at + 1), BEFORE_MEMBERS);
    if (at < 0) return false;
    at = skipSpaces(bytes, at);
    if (bytes[at] !== OPEN_BRACKET) return false;
    const members: number[] = [];
    do {
      members.push(this.readInteger(bytes, skipSpaces(bytes, at + 1)));
      if (this.at < 0) return false;
      at = skipSpaces(bytes, this.at);
    } while (bytes[at] === COMMA);
    if (bytes[at] !== CLOSE_BRACKET) return false;
    at = skipSpaces(bytes, at + 1);
    if (bytes[at] !== CLOSE_BRACE) return false;
    at = skipSpaces(bytes, at + 1);
    if (at < to && bytes[at] === CARRIAGE_RETURN) at++;
    this.edge.members = members;
    return at === to;
  }

  private readInteger(bytes: Uint8Array, from: number): number {
    const isNegative = bytes[from] === MINUS;
    const start = isNegative ? from + 1 : from;
    let at = start;
    let value = 0;
    for (let digit = bytes[at]!; digit >= ZERO && digit <= NINE; digit = bytes[++at]!)
      value = value * 10 + (digit - ZERO);
    const digits = at - start;
    // Leading zeros are not allowed in JSON. -0 is allowed, and is left to JSON.parse.
    const isPlain = digits > 0 && digits <= MOST_DIGITS && (bytes[start] !== ZERO || (digits === 1 && !isNegative));
    this.at = isPlain ? at : -1;
    return isNegative ? -value : value;
  }
}

function skipText(bytes: Uint8Array, from: number, text: Uint8Array): number {
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return -1;
  return from + text.length;
}

function skipSpaces(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === SPACE) at++;
  return at;
}
