// Writes the log line `query_complete` as bytes straight into the sink. Every read of rows writes
// this line; as a string it would cost more time than the response headers of the read.

import { jsonText } from './json-text.ts';

/** The buffer in which lines are assembled. */
export interface LineRoom {
  readonly buffer: Uint8Array;
  /**
   * Returns the offset in `buffer` at which to write a line of at most `bytes` bytes, or -1 if
   * there is no room; the line then counts as lost. After an offset was returned, call `took`
   * before any other method.
   */
  room(bytes: number): number;
  /** Completes the line; `end` is the offset after its last byte. */
  took(end: number): void;
}

export interface QueryLineOptions {
  sink: LineRoom;
  /** The current time, ISO 8601, 24 characters. */
  timestamp: () => string;
  /** Masks secrets in finished JSON. */
  mask: (text: string) => string;
}

const HEAD = '{"level":"info","ts":"';
const TIME_LENGTH = 24;
const RECORDS = Buffer.from(',"records":');
const TAIL = Buffer.from('","msg":"query_complete"}\n');
/** Maximum length of the varying parts: two numbers of 17 digits and a request id. */
const MOST_VARYING = 2 * 17 + 128;

export class QueryLines {
  readonly #options: QueryLineOptions;
  /** The encoded start of a line, up to the duration, for the strategy used last. */
  #start = Buffer.alloc(0);
  #strategy = '';
  #time = '';
  /** The encoded part from the table to the request id, for the table used last. */
  #middle = Buffer.alloc(0);
  #table: string | undefined;

  constructor(options: QueryLineOptions) {
    this.#options = options;
  }

  /**
   * Writes one line. `requestId` is printable ASCII of at most 128 characters and contains no
   * secret.
   */
  write(strategy: string, durationUs: number, records: number, table: string, requestId: string): void {
    const { sink, timestamp } = this.#options;
    if (strategy !== this.#strategy) this.#useStrategy(strategy);
    if (table !== this.#table) this.#useTable(table);
    const time = timestamp();
    if (time !== this.#time) {
      this.#time = time;
      this.#start.write(time, HEAD.length, 'latin1');
    }
    const start = this.#start;
    const middle = this.#middle;
    let at = sink.room(start.length + middle.length + RECORDS.length + TAIL.length + MOST_VARYING);
    if (at < 0) return;
    const { buffer } = sink;
    buffer.set(start, at);
    at = writeInteger(buffer, at + start.length, durationUs);
    buffer.set(RECORDS, at);
    at = writeInteger(buffer, at + RECORDS.length, records);
    buffer.set(middle, at);
    at += middle.length;
    for (let i = 0; i < requestId.length; i++) buffer[at++] = requestId.charCodeAt(i);
    buffer.set(TAIL, at);
    sink.took(at + TAIL.length);
  }

  #useStrategy(strategy: string): void {
    this.#strategy = strategy;
    this.#time = ' '.repeat(TIME_LENGTH);
    this.#start = Buffer.from(`${HEAD}${this.#time}","strategy":${jsonText(strategy)},"duration_us":`);
  }

  #useTable(table: string): void {
    this.#table = table;
    this.#middle = Buffer.from(`,"table":${this.#options.mask(jsonText(table))},"request_id":"`);
  }
}

/**
 * Returns true if an id has the form that the service generates: 8 characters, a dash and a number.
 * Such ids are not secrets.
 */
export function isOwnId(requestId: string): boolean {
  const dash = requestId.length <= MOST_OWN_ID ? requestId.lastIndexOf('-') : -1;
  if (dash !== PREFIX_LENGTH) return false;
  for (let i = dash + 1; i < requestId.length; i++) {
    const code = requestId.charCodeAt(i);
    if (code < ZERO || code > ZERO + 9) return false;
  }
  return true;
}

const PREFIX_LENGTH = 8;
const MOST_OWN_ID = 32;
const ZERO = 48;

/** Writes the decimal digits of an integer of 0 or more; returns the offset after them. */
function writeInteger(buffer: Uint8Array, at: number, value: number): number {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits += 1;
  let rest = value;
  for (let place = at + digits - 1; place >= at; place--) {
    const next = Math.floor(rest / 10);
    buffer[place] = ZERO + (rest - next * 10);
    rest = next;
  }
  return at + digits;
}
