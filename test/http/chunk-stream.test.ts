// Tests that chunks are written to the transport in pieces that fit into the transport's buffer.
// uWebSockets.js once sent longer pieces with their chunk header twice (its issue 1249). Bytes that
// the client has not taken yet are copied, because another answer may reuse the memory of the
// source before the client takes them.

import { expect, test } from 'vitest';
import { ChunkStream } from '../../src/http/answer/chunk-stream.ts';
import type { TransportResponse } from '../../src/http/transport.ts';
import { Scheduler } from '../../src/schedule/scheduler.ts';

const TRANSPORT_BUFFER = 16 * 1024;
const LONGEST_HEAD = 12;

test('pieces with their headers fit into the buffer, keep their order and wait for a slow client', async () => {
  const chunks = [1, 15_360, 15_361, 500_000, 0, 100_000].map((length, at) =>
    Buffer.alloc(length).map((_, i) => (at * 31 + i) % 251),
  );
  const sent: Buffer[] = [];
  let resume: () => void = () => {};
  let writes = 0;
  const transport = {
    cork: (write: () => void) => write(),
    write(piece: Uint8Array) {
      sent.push(Buffer.from(piece));
      // The buffer is full after every third write.
      if (++writes % 3 !== 0) return true;
      setImmediate(() => {
        shared.fill(0);
        resume();
      });
      return false;
    },
    end: () => {},
    onWritable: (call: () => void) => {
      resume = call;
    },
  } as unknown as TransportResponse;
  const left = [...chunks];
  let closed = 0;
  const shared = Buffer.alloc(500_000);
  await new Promise<void>((ended, failed) => {
    const source = {
      // The source reuses its memory for the next chunk.
      next() {
        const chunk = left.shift();
        if (chunk === undefined) return null;
        shared.set(chunk);
        return shared.subarray(0, chunk.length);
      },
      close: () => void closed++,
    };
    new ChunkStream({
      transport,
      source,
      scheduler: new Scheduler(() => performance.now()),
      limits: { stallMs: 60_000, streamMs: 0 },
      ended,
      failed,
      cut: failed,
    }).start();
  });
  expect(Buffer.concat(sent).equals(Buffer.concat(chunks))).toBe(true);
  expect(Math.max(...sent.map(({ length }) => length))).toBeLessThanOrEqual(TRANSPORT_BUFFER - LONGEST_HEAD);
  expect(closed).toBe(1);
});
