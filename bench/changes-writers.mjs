// Child process of changes.ts: inserts edges one by one over some connections, at a fixed rate in
// all. Arguments: port, inserts per second, seconds, connections. Prints the number of inserts that
// were acknowledged, and the 99th percentile of their times in ms, as JSON.

import { connect } from 'node:net';

const [port, rate, seconds, connections] = process.argv.slice(2).map(Number);
const END = Buffer.from('\r\n\r\n');
const times = [];
let due = 0;
let sent = 0;
let done = 0;
const idle = [];
const until = performance.now() + seconds * 1000;

function client(place) {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  let begun = 0;
  const one = {
    send() {
      const n = sent++;
      // The weight is when the edge was sent, so that those who follow can tell how late it came.
      const body = `{"event_ts":${1_800_000_000 + n},"members":[${n % 5000},${5000 + place}],"weight":${Date.now()}}`;
      begun = performance.now();
      socket.write(
        `POST /v1/hyperedges HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    },
  };
  let rest = Buffer.alloc(0);
  socket.on('data', (data) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    const head = rest.indexOf(END);
    if (head < 0) return;
    const text = rest.latin1Slice(0, head);
    const length = Number(/content-length: (\d+)/i.exec(text)[1]);
    if (rest.length < head + 4 + length) return;
    if (!text.startsWith('HTTP/1.1 201')) throw new Error(rest.toString());
    rest = Buffer.alloc(0);
    done++;
    times.push(performance.now() - begun);
    next(one);
  });
  socket.on('connect', () => next(one));
}

function next(one) {
  if (performance.now() > until) return;
  if (due > 0) {
    due--;
    one.send();
  } else idle.push(one);
}

for (let place = 0; place < connections; place++) client(place);
let before = performance.now();
const timer = setInterval(() => {
  const now = performance.now();
  // No more than a tenth of a second is made up for.
  due = Math.min(due + ((now - before) * rate) / 1000, rate / 10);
  before = now;
  while (due >= 1 && idle.length > 0) {
    due--;
    idle.pop().send();
  }
  if (now < until + 500) return;
  clearInterval(timer);
  times.sort((a, b) => a - b);
  console.log(JSON.stringify({ done, p99Ms: times[Math.floor(times.length * 0.99)] }));
  process.exit(0);
}, 2);
