import { describe, expect, it } from 'vitest';
import {
  type Destination,
  type DestinationListener,
  LineSink,
  type LineSinkOptions,
} from '../../src/observe/line-sink.ts';

/** A destination that completes a write only when the test says so. */
class HeldDestination implements Destination {
  readonly written: string[] = [];
  /** The text being written. */
  pending: string | undefined;
  reopened = 0;
  closed = false;
  synchronous = true;
  #listener: DestinationListener;

  constructor(listener: DestinationListener) {
    this.#listener = listener;
  }

  write(text: string): void {
    this.pending = (this.pending ?? '') + text;
  }

  writeSync(text: string): void {
    if (!this.synchronous) throw new Error('EAGAIN');
    this.written.push(text);
  }

  reopen(): void {
    this.reopened += 1;
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  done(): void {
    this.written.push(this.pending ?? '');
    this.pending = undefined;
    this.#listener.done();
  }

  fail(): void {
    this.#listener.failed(new Error('ENOSPC'));
  }
}

function sinkWith(options: Partial<LineSinkOptions> = {}) {
  let destination!: HeldDestination;
  const timers: { callback: () => void; delayMs: number }[] = [];
  const failed: string[] = [];
  const lost: number[] = [];
  const sink = new LineSink({
    open: (listener) => {
      destination = new HeldDestination(listener);
      return destination;
    },
    mask: (lines) => lines,
    schedule: (callback, delayMs) => void timers.push({ callback, delayMs }),
    failed: (error) => void failed.push(error.message),
    lost: (lines) => void lost.push(lines),
    closeMs: 10,
    ...options,
  });
  const tick = () => {
    for (const { callback } of timers.splice(0)) callback();
  };
  return { sink, destination, timers, tick, failed, lost };
}

describe('lines', () => {
  it('wait for one timer and are written together', () => {
    const { sink, destination, timers, tick } = sinkWith({ flushMs: 70 });
    sink.write('a\n');
    sink.write('b\n');
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([70]);
    expect(destination.pending).toBeUndefined();
    tick();
    expect(destination.pending).toBe('a\nb\n');
    sink.write('c\n');
    destination.done();
    tick();
    destination.done();
    expect(destination.written).toEqual(['a\nb\n', 'c\n']);
    expect(sink.lost).toBe(0);
  });

  it('are written immediately with all waiting lines when one of them is urgent', () => {
    const { sink, destination } = sinkWith();
    sink.write('a\n');
    sink.write('b\n', true);
    expect(destination.pending).toBe('a\nb\n');
  });

  it('are written without the timer when a chunk is full, one chunk at a time', () => {
    const { sink, destination } = sinkWith();
    const line = `${'x'.repeat(999)}\n`;
    for (let count = 0; count < 200; count++) sink.write(line);
    expect(destination.pending).toHaveLength(66_000);
    destination.done();
    expect(destination.pending).toHaveLength(66_000);
    destination.done();
    destination.done();
    destination.done();
    expect(destination.written.map((chunk) => chunk.length)).toEqual([66_000, 66_000, 66_000, 2000]);
    expect(sink.lost).toBe(0);
  });

  it('are masked before they are written', () => {
    const { sink, destination, tick } = sinkWith({ mask: (lines) => lines.replaceAll('secret', '[masked]') });
    sink.write('a secret\n');
    tick();
    expect(destination.pending).toBe('a [masked]\n');
    sink.write('last secret\n');
    sink.flushSync();
    expect(destination.written).toEqual(['last [masked]\n']);
  });
});

describe('a slow destination', () => {
  it('causes lines over the buffer limit to be lost; their number is reported when it recovers', () => {
    const { sink, destination, lost, tick } = sinkWith({ limit: 1600 });
    sink.write('0\n', true);
    const line = `${'x'.repeat(99)}\n`;
    for (let count = 0; count < 40; count++) sink.write(line);
    expect(sink.lost).toBe(25);
    expect(lost).toEqual([]);
    sink.write(line, true); // fits into the space reserved for urgent lines
    expect(sink.lost).toBe(25);
    sink.write(line, true);
    expect(sink.lost).toBe(26);
    destination.done();
    expect(lost).toEqual([26]);
    tick();
    expect(destination.pending).toHaveLength(1600);
    destination.done();
    sink.write('again\n', true);
    destination.done();
    expect(lost).toEqual([26]);
    expect(destination.written.join('')).toBe(`0\n${line.repeat(16)}again\n`);
  });

  it('is waited for at the end, but only for a limited time', async () => {
    const { sink, destination } = sinkWith();
    sink.write('a\nb\n');
    sink.write('c\n', true);
    sink.write('d\n');
    await sink.close();
    expect(destination.closed).toBe(true);
    expect(sink.lost).toBe(3);
    sink.write('e\n');
    expect(sink.lost).toBe(4);
  });

  it('loses no lines at the end when it catches up in time', async () => {
    const { sink, destination } = sinkWith({ closeMs: 5000 });
    sink.write('a\n', true);
    sink.write('b\n');
    const closing = sink.close();
    destination.done();
    destination.done();
    await closing;
    expect(destination.written).toEqual(['a\n', 'b\n']);
    expect(sink.lost).toBe(0);
  });
});

describe('a failing destination', () => {
  it('is reported once, retried, and reported again only after it has worked', () => {
    const { sink, destination, failed, tick } = sinkWith();
    sink.write('a\n', true);
    destination.fail();
    tick();
    destination.fail();
    tick();
    expect(failed).toEqual(['ENOSPC']);
    destination.done();
    expect(destination.written).toEqual(['a\n']);
    sink.write('b\n', true);
    destination.fail();
    expect(failed).toEqual(['ENOSPC', 'ENOSPC']);
  });

  it('leaves the lines that fit in the buffer; the others are counted as lost', () => {
    const { sink, destination, lost, tick } = sinkWith({ limit: 160 });
    sink.write('a\n', true);
    destination.fail();
    for (let count = 0; count < 100; count++) sink.write('0123456789\n');
    expect(sink.lost).toBe(100 - Math.floor(150 / 11));
    destination.done();
    tick();
    destination.done();
    expect(lost).toEqual([sink.lost]);
    expect(destination.written.join('')).toBe(`a\n${'0123456789\n'.repeat(13)}`);
  });
});

describe('the end of the process', () => {
  it('writes all buffered lines synchronously', () => {
    const { sink, destination } = sinkWith();
    sink.write('a\n');
    sink.write('b\n');
    sink.flushSync();
    expect(destination.written).toEqual(['a\nb\n']);
    sink.flushSync();
    expect(sink.lost).toBe(0);
  });

  it('counts the lines as lost if they cannot be written', () => {
    const { sink, destination } = sinkWith();
    destination.synchronous = false;
    sink.write('a\n');
    sink.flushSync();
    expect(sink.lost).toBe(1);
  });
});

it('the sink reopens its file unless it is closed', async () => {
  const { sink, destination } = sinkWith();
  sink.reopen();
  expect(destination.reopened).toBe(1);
  await sink.close();
  sink.reopen();
  expect(destination.reopened).toBe(1);
});
