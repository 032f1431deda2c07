// Child process of changes.ts: follows the changes over some connections as server-sent events, and
// checks that every id comes once, in order. Connections are cut and resumed at random. Arguments:
// port, number of connections, mean seconds between two cuts in all. On a line of standard input
// (the last LSN) it waits for this LSN everywhere, and prints the result as JSON.

import { connect } from 'node:net';

const [port, count, cutEverySeconds, fromLsn] = process.argv.slice(2).map(Number);
const EVENT = Buffer.from('\nid: ');
const NOTHING = Buffer.alloc(0);
const WEIGHT = Buffer.from('"weight":');
/** One in so many pieces of text is looked at for the age of its last event. */
const SAMPLE = 8;

let lastLsn = Number.POSITIVE_INFINITY;
let events = 0;
let cuts = 0;
const ages = [];
let problem = null;

class Subscriber {
  lsn = fromLsn;

  open() {
    this.socket = connect(port, '127.0.0.1');
    this.rest = NOTHING;
    this.head = NOTHING;
    this.isHead = true;
    this.chunkLeft = 0;
    this.skip = 0;
    this.pieces = 0;
    this.socket.write(
      `GET /v1/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nLast-Event-ID: ${this.lsn}\r\n\r\n`,
    );
    this.socket.on('data', (data) => this.take(data));
    this.socket.on('error', () => undefined);
  }

  cut() {
    cuts++;
    this.socket.destroy();
    this.open();
  }

  /** Takes a part of the answer: its head, then chunks. */
  take(data) {
    const bytes = this.head.length === 0 ? data : Buffer.concat([this.head, data]);
    this.head = NOTHING;
    let at = 0;
    if (this.isHead) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) {
        this.head = bytes;
        return;
      }
      if (!bytes.latin1Slice(0, 15).startsWith('HTTP/1.1 200')) problem ??= bytes.toString().slice(0, 500);
      this.isHead = false;
      at = end + 4;
    }
    while (at < bytes.length) {
      if (this.chunkLeft > 0) {
        const taken = Math.min(this.chunkLeft, bytes.length - at);
        this.read(bytes.subarray(at, at + taken));
        this.chunkLeft -= taken;
        at += taken;
        if (this.chunkLeft === 0) this.skip = 2;
      } else if (this.skip > 0) {
        this.skip--;
        at++;
      } else {
        const end = bytes.indexOf(10, at);
        if (end < 0) {
          this.head = bytes.subarray(at);
          return;
        }
        this.chunkLeft = Number.parseInt(bytes.latin1Slice(at, end), 16);
        at = end + 1;
      }
    }
  }

  /** Reads text of events. */
  read(text) {
    const bytes = this.rest.length === 0 ? text : Buffer.concat([this.rest, text]);
    let from = 0;
    let kept = Math.max(0, bytes.length - EVENT.length + 1);
    for (;;) {
      const at = bytes.indexOf(EVENT, from);
      if (at < 0) break;
      let id = 0;
      let place = at + EVENT.length;
      while (place < bytes.length && bytes[place] >= 48 && bytes[place] <= 57) id = id * 10 + bytes[place++] - 48;
      if (place + 1 >= bytes.length) {
        kept = at;
        break;
      }
      from = place;
      // A comment repeats the id of the last event.
      if (bytes[place + 1] === 58) continue;
      // Every commit of the writers is one operation.
      if (id !== this.lsn + 1) problem ??= `LSN ${id} after ${this.lsn}`;
      this.lsn = id;
      events++;
    }
    if (++this.pieces % SAMPLE === 0) this.look(bytes);
    this.rest = bytes.subarray(Math.max(from, kept));
  }

  look(bytes) {
    const at = bytes.lastIndexOf(WEIGHT);
    if (at < 0 || at + 22 > bytes.length) return;
    ages.push(Date.now() - Number(bytes.latin1Slice(at + WEIGHT.length, at + WEIGHT.length + 13)));
  }
}

const subscribers = Array.from({ length: count }, () => new Subscriber());
for (const subscriber of subscribers) subscriber.open();
let random = 12345;
const below = (n) => {
  random = (Math.imul(random, 1103515245) + 12345) & 0x7fffffff;
  return random % n;
};
const cutting = setInterval(() => subscribers[below(count)].cut(), cutEverySeconds * 1000);

process.stdin.once('data', (text) => {
  lastLsn = Number(text.toString());
  clearInterval(cutting);
  const untilMs = performance.now() + 20_000;
  const look = setInterval(() => {
    const isOver = subscribers.every(({ lsn }) => lsn >= lastLsn);
    if (!isOver && performance.now() < untilMs && problem === null) return;
    clearInterval(look);
    if (!isOver) problem ??= `at the end, the slowest is at ${Math.min(...subscribers.map(({ lsn }) => lsn))}`;
    ages.sort((a, b) => a - b);
    const at = (share) => ages[Math.floor(share * (ages.length - 1))];
    console.log(JSON.stringify({ events, cuts, p50Ms: at(0.5), p99Ms: at(0.99), problem }));
    process.exit(0);
  }, 20);
});
console.log('following');
