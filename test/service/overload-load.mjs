// Child process of overload.test.ts: sends a service requests over raw sockets in an open loop,
// that is at a fixed rate, whether or not earlier requests have been answered.
//
// The first argument is a JSON object of settings. At the end it prints a JSON object of results.

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const settings = JSON.parse(process.argv[2]);
const { port, key, connections, silent, rate, seconds, edges, firstTime } = settings;

const WINDOW = 100;
/** The code of an established connection in /proc/net/tcp. */
const ESTABLISHED = '01';
const WHOLE = `/v1/hyperedges?table=fixed&start_ts=0&end_ts=${edges}`;
const HEAD = `HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`;

const result = { offered: 0, held: 0, statuses: {}, wrong: [], cut: 0, acknowledged: [], refused: [], attempted: 0, silentCut: 0 };
let nextTime = firstTime;
let state = 7;

/**
 * Returns a random number below a limit. The generator is the one of Numerical Recipes with a fixed
 * seed, so that every run sends the same requests in the same order.
 */
function random(below) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

/** Returns a random request, the status of success, and a text that its answer must contain. */
function drawRequest() {
  const kind = random(10);
  if (kind < 4) {
    const start = random(edges - WINDOW);
    const path = `/v1/hyperedges?table=fixed&start_ts=${start}&end_ts=${start + WINDOW - 1}`;
    return { text: `GET ${path} ${HEAD}\r\n`, status: 200, holds: `"num_tuples":${WINDOW},` };
  }
  if (kind < 6) {
    const path = `/v1/hyperedges/node/${random(1000)}?table=fixed`;
    return { text: `GET ${path} ${HEAD}\r\n`, status: 200, holds: `"num_tuples":${edges / 1000},` };
  }
  if (kind < 7) return { text: `GET ${WHOLE} ${HEAD}\r\n`, status: 200, holds: `"num_tuples":${edges},` };
  const time = nextTime++;
  const body = `{"event_ts":${time},"members":[${time % 1000},5000]}`;
  result.attempted += 1;
  const text = `POST /v1/hyperedges ${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
  return { text, status: 201, holds: `"event_ts":${time},`, time };
}

const KEPT = 512;

/** Reads one answer at a time: detects its end, and keeps the head and the last bytes. */
class AnswerReader {
  head = '';
  tail = '';
  #left = -1;
  #chunked = false;

  /** Reads the next bytes. Returns true once the answer is complete. */
  take(text) {
    if (this.#left < 0 && !this.#chunked) {
      this.head += text;
      const end = this.head.indexOf('\r\n\r\n');
      if (end < 0) return false;
      text = this.head.slice(end + 4);
      this.head = this.head.slice(0, end);
      this.#chunked = /\r\ntransfer-encoding: chunked/i.test(this.head);
      if (!this.#chunked) this.#left = Number(/\r\ncontent-length: (\d+)/i.exec(this.head)?.[1] ?? 0);
    }
    this.tail = (this.tail + text).slice(-KEPT);
    if (this.#chunked) return this.tail.endsWith('\r\n0\r\n\r\n');
    this.#left -= text.length;
    return this.#left <= 0;
  }

  get status() {
    return Number(this.head.slice(9, 12));
  }
}

const free = [];

class Client {
  #socket;
  #request;
  #reader;

  open() {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.setEncoding('latin1');
    this.#socket.once('connect', () => free.push(this));
    this.#socket.on('data', (text) => this.#take(text));
    this.#socket.on('error', () => {});
    this.#socket.once('close', () => this.#closed());
    return this;
  }

  send() {
    this.#request = drawRequest();
    this.#reader = new AnswerReader();
    this.#socket.write(this.#request.text);
  }

  #take(text) {
    if (this.#request === undefined || !this.#reader.take(text)) return;
    const { status, tail } = this.#reader;
    const { status: wanted, holds, time } = this.#request;
    result.statuses[status] = (result.statuses[status] ?? 0) + 1;
    if (status === wanted && !tail.includes(holds)) result.wrong.push(`${this.#request.text}: ${tail}`.slice(0, 1000));
    if (status !== wanted && status !== 429 && status !== 503) result.wrong.push(`${status}: ${tail}`.slice(0, 1000));
    if (time !== undefined) (status === 201 ? result.acknowledged : result.refused).push(time);
    const closes = /\r\nconnection: close/i.test(this.#reader.head);
    this.#request = undefined;
    if (!closes) free.push(this);
  }

  #closed() {
    const place = free.indexOf(this);
    if (place >= 0) free.splice(place, 1);
    if (this.#request !== undefined) result.cut += 1;
    this.#request = undefined;
    if (!stopping) setTimeout(() => this.open(), 50);
  }

  destroy() {
    this.#request = undefined;
    this.#socket.destroy();
  }
}

let stopping = false;

const silentClients = new Set();

/**
 * Opens a connection that requests all edges and reads nothing. Once the service cuts it off, it is
 * replaced by another.
 */
function openSilent() {
  const socket = connect(port, '127.0.0.1', () => {
    socket.pause();
    socket.write(`GET ${WHOLE} ${HEAD}\r\n`);
    silentClients.add(socket);
  });
  socket.on('error', () => {});
}

/**
 * Replaces the silent connections that the service has cut off. A paused socket does not notice
 * its end, so the service's side of the connection is looked up in the kernel's table.
 */
function replaceCut() {
  const open = new Set();
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1)) {
    const [, local, remote, connectionState] = line.trim().split(/\s+/);
    const isOurs = local !== undefined && parseInt(local.split(':')[1], 16) === port;
    if (isOurs && connectionState === ESTABLISHED) open.add(parseInt(remote.split(':')[1], 16));
  }
  for (const socket of silentClients) {
    if (open.has(socket.localPort)) continue;
    silentClients.delete(socket);
    socket.destroy();
    result.silentCut += 1;
    if (!stopping) openSilent();
  }
}

const clients = Array.from({ length: connections }, () => new Client().open());
for (let i = 0; i < silent; i++) openSilent();
if (silent > 0) setInterval(replaceCut, 1000);

while (free.length < connections * 0.9) await new Promise((resolve) => setTimeout(resolve, 20));

const start = performance.now();
const timer = setInterval(() => {
  const due = Math.floor(((performance.now() - start) / 1000) * rate);
  while (result.offered < due) {
    result.offered += 1;
    const client = free.shift();
    if (client === undefined) result.held += 1;
    else client.send();
  }
}, 5);

setTimeout(() => {
  clearInterval(timer);
  // Requests in flight may still be answered.
  setTimeout(() => {
    stopping = true;
    for (const client of clients) client.destroy();
    process.stdout.write(JSON.stringify(result), () => process.exit(0));
  }, settings.graceMs);
}, seconds * 1000);
