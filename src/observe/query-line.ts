// Writes the line `query_complete` as bytes straight into the sink: it comes with every read, and as a text it would cost more than the read's own headers.

import { jsonText } from './json-text.ts';

/** Where finished lines are put together. */
export interface LineRoom {
  readonly buffer: Uint8Array;
  /** The place in `buffer` for a line of at most `bytes`; -1: there is none, the line counts as lost. Followed by `took` before anything else. */
  room(bytes: number): number;
  /** The line ends here. */
  took(end: number): void;
}

export interface QueryLineOptions {
  sink: LineRoom;
  /** The present time, ISO 8601, 24 characters. */
  timestamp: () => string;
  /** Masks secrets in finished JSON. */
  mask: (text: string) => string;
}

const HEAD = '{"level":"info","ts":"';
const TIME_LENGTH = 24;
const RECORDS = Buffer.from(',"records":');
const TAIL = Buffer.from('","msg":"query_complete"}\n');
/** Digits of the two numbers, and the longest request id. */
const MOST_VARYING = 2 * 17 + 128;

export class QueryLines {
  readonly #options: QueryLineOptions;
  /** Of the strategy that was written last: everything up to the duration. */
  #start = Buffer.alloc(0);
  #strategy = '';
  #time = '';
  /** Of the table that was written last: everything from the records to the request id. */
  #middle = Buffer.alloc(0);
  #table: string | undefined;

  constructor(options: QueryLineOptions) {
    this.#options = options;
  }

  /** `requestId` is printable ASCII of at most 128 characters that holds no secret. */
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

/** True for what the service names requests by itself: a few random characters, a dash, a number. It can be no secret. */
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

/** Decimal digits of an integer of 0 or more; returns the place after them. */
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
