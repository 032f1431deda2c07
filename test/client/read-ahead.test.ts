import { describe, expect, test } from 'vitest';
import { readAhead } from '../../src/client/read-ahead.ts';

const KILOBYTE = 1024;
const NEVER = new AbortController().signal;

/**
 * Creates a body of `count` numbered chunks of `size` bytes. `seen` reports what was read from it.
 */
function numbered(count: number, size: number, fails?: Error) {
  const seen = { made: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (seen.made === count) {
          if (fails === undefined) controller.close();
          else controller.error(fails);
          return;
        }
        controller.enqueue(new Uint8Array(size).fill(seen.made++ % 251));
      },
      cancel() {
        seen.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

const macrotask = () => new Promise((resolve) => setImmediate(resolve));

describe('a body that is read ahead', () => {
  test.each([0, 1, 63, 64, 65, 1000])(
    'returns %i chunks completely and in order, even to a slow reader',
    async (count) => {
      const { body } = numbered(count, 10);
      const found: number[] = [];
      for await (const chunk of readAhead(body, NEVER)) {
        expect(chunk.length).toBe(10);
        found.push(chunk[0]!);
        if (found.length % 7 === 0) await macrotask();
      }
      expect(found).toEqual(Array.from({ length: count }, (_, index) => index % 251));
    },
  );

  test('is read ahead by a few megabytes at most', async () => {
    const { body, seen } = numbered(10_000, 64 * KILOBYTE);
    const chunks = readAhead(body, NEVER);
    await chunks.next();
    for (let turn = 0; turn < 50; turn++) await macrotask();
    expect(seen.made).toBeGreaterThan(60);
    expect(seen.made).toBeLessThan(70);
    // Reading resumes only once most of the buffer has been consumed.
    for (let taken = 1; taken < 40; taken++) await chunks.next();
    for (let turn = 0; turn < 50; turn++) await macrotask();
    expect(seen.made).toBeLessThan(70);
    for (let taken = 40; taken < 60; taken++) await chunks.next();
    for (let turn = 0; turn < 50; turn++) await macrotask();
    expect(seen.made).toBeGreaterThan(100);
    await chunks.return(undefined);
    expect(seen.cancelled).toBe(true);
  });

  test('returns what was received and then throws when it is interrupted', async () => {
    const { body } = numbered(3, 5, new Error('cut'));
    const found: number[] = [];
    const reading = (async () => {
      for await (const chunk of readAhead(body, NEVER)) {
        found.push(chunk[0]!);
        await macrotask();
      }
    })();
    await expect(reading).rejects.toThrow('cut');
    expect(found).toEqual([0, 1, 2]);
  });

  test('ends with the signal after what was received, even if the body never ends', async () => {
    const controller = new AbortController();
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(new Uint8Array([7])),
      cancel: () => {
        cancelled = true;
      },
    });
    const chunks = readAhead(body, controller.signal);
    expect((await chunks.next()).value).toEqual(new Uint8Array([7]));
    const next = chunks.next();
    controller.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    expect(cancelled).toBe(true);
    await expect(readAhead(numbered(1, 1).body, controller.signal).next()).rejects.toThrow('enough');
  });

  test('is cancelled when the loop is left', async () => {
    const { body, seen } = numbered(100_000, KILOBYTE);
    for await (const chunk of readAhead(body, NEVER)) {
      expect(chunk[0]).toBe(0);
      break;
    }
    await macrotask();
    expect(seen.cancelled).toBe(true);
  });
});
