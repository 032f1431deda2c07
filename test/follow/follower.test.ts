// How a follower knows its lag, with a leader and clocks that are made up.

import { afterEach, describe, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { encodeFrames, encodeHeartbeat } from '../../src/follow/frame-stream.ts';
import { Follower, LeaderLink } from '../../src/follow/index.ts';
import { LeaderClock } from '../../src/follow/leader-clock.ts';
import { crc32c } from '../support/crc32c.ts';

/** The leader's clock shows this much more than the follower's. */
const AHEAD_MS = 7_000_000;

/** A leader whose bytes arrive when the test sends them. */
class Stream extends LeaderLink {
  connections = 0;
  #send: ((piece: Uint8Array) => void) | undefined;

  constructor() {
    super({ url: 'http://leader', key: undefined });
  }

  override async *log(_from: number, _sum: number | undefined, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    this.connections++;
    while (!signal.aborted) {
      const piece = await new Promise<Uint8Array | undefined>((resolve) => {
        this.#send = resolve;
        signal.addEventListener('abort', () => resolve(undefined));
      });
      if (piece !== undefined) yield piece;
    }
  }

  /** Sends bytes, and waits until the follower has taken them. */
  async send(piece: Uint8Array): Promise<void> {
    this.#send!(piece);
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

let follower: Follower;
let nowMs: number;
let secrets: Uint8Array[];
/** The newest LSN that reads see, if it is not the newest one that was applied. */
let visible: (() => number) | undefined;

async function followed(): Promise<Stream> {
  const stream = new Stream();
  const applier = {
    nextLsn: 1,
    async apply(frames: readonly { firstLsn: number; operations: number }[]) {
      for (const { firstLsn, operations } of frames) this.nextLsn = firstLsn + operations;
    },
  };
  const database = {
    applier,
    crc32c,
    frames: { checksumAt: async () => undefined },
    get lastLsn() {
      return visible?.() ?? applier.nextLsn - 1;
    },
  };
  nowMs = 1000;
  secrets = [];
  visible = undefined;
  const quiet = () => undefined;
  follower = new Follower({
    database: database as unknown as Database,
    leader: stream,
    now: () => nowMs,
    cursorSecret: (secret) => secrets.push(secret),
    notice: quiet,
    warn: quiet,
  });
  follower.start();
  await settled();
  return stream;
}

afterEach(() => follower?.close());

/** A heartbeat that the leader made when the follower's clock showed `madeMs`. */
const beat = (madeMs: number, headLsn: number) => encodeHeartbeat({ timeMs: madeMs + AHEAD_MS, headLsn }, crc32c);

function frame(firstLsn: number, headLsn: number): Uint8Array {
  const frames = [{ firstLsn, operations: 1, seconds: 1, payload: new Uint8Array(10) }];
  return Buffer.concat([...encodeFrames(frames, headLsn, crc32c)]);
}

describe('the lag of a follower', () => {
  test('is unknown until the leader has answered', async () => {
    await followed();
    expect(follower.lag).toEqual({ lsns: undefined, ms: Number.POSITIVE_INFINITY });
  });

  test('is the age of the newest heartbeat with whose LSN it was level, however late it arrives', async () => {
    const stream = await followed();
    nowMs = 1010;
    await stream.send(beat(1003, 0));
    // Asked at 1000, so the first heartbeat counts as made then.
    expect(follower.lag).toEqual({ lsns: 0, ms: 10 });
    nowMs = 9000;
    for (const madeMs of [2003, 3003, 4003]) await stream.send(beat(madeMs, 0));
    expect(follower.lag).toEqual({ lsns: 0, ms: 5000 });
    nowMs = 9001;
    await stream.send(beat(9001, 0));
    expect(follower.lag.ms).toBe(3);
  });

  test('does not begin again with frames that were on their way for long', async () => {
    const stream = await followed();
    await stream.send(beat(1000, 0));
    nowMs = 6000;
    await stream.send(frame(1, 1));
    expect(follower.lag).toEqual({ lsns: 0, ms: 5000 });
    await stream.send(beat(1500, 1));
    expect(follower.lag).toEqual({ lsns: 0, ms: 4500 });
  });

  test('is not that of a heartbeat whose LSN it does not have yet', async () => {
    const stream = await followed();
    await stream.send(beat(1000, 0));
    nowMs = 2000;
    await stream.send(beat(2000, 5));
    expect(follower.lag).toEqual({ lsns: 5, ms: 1000 });
    nowMs = 2500;
    await stream.send(Buffer.concat([1, 2, 3, 4, 5].map((lsn) => frame(lsn, 5))));
    expect(follower.lag).toEqual({ lsns: 0, ms: 500 });
  });

  test('is not that of frames that reads do not see yet', async () => {
    const stream = await followed();
    await stream.send(beat(1000, 0));
    visible = () => 0;
    nowMs = 5000;
    await stream.send(Buffer.concat([frame(1, 1), beat(5000, 1)]));
    expect(follower.lag.ms).toBe(4000);
    visible = () => 1;
    expect(follower.lag.ms).toBe(0);
  });

  test('in LSNs counts a frame that has not arrived in full', async () => {
    const stream = await followed();
    await stream.send(beat(1000, 0));
    await stream.send(frame(1, 7).subarray(0, 40));
    expect(follower.lag.lsns).toBe(7);
  });

  test('with a leader that sends no times is the time since it was level', async () => {
    const stream = await followed();
    nowMs = 4000;
    await stream.send(encodeHeartbeat({ timeMs: 0, headLsn: 0 }, crc32c));
    nowMs = 4200;
    expect(follower.lag.ms).toBe(200);
    await stream.send(frame(1, 1));
    expect(follower.lag.ms).toBe(0);
  });

  test('is measured anew, over another connection, if the own clock stood still', async () => {
    const stream = await followed();
    await stream.send(beat(1000, 0));
    await stream.send(beat(60_000, 0));
    expect(follower.problem).toContain('The clock of this machine stood still');
    expect(follower.isConnected).toBe(false);
  });
});

test("a follower receives its leader's secret for cursors with each connection", async () => {
  const stream = await followed();
  const secret = Uint8Array.from({ length: 32 }, (_, n) => n);
  const first = encodeHeartbeat({ timeMs: 5, headLsn: 0, cursorSecret: secret }, crc32c);
  await stream.send(Buffer.concat([first, beat(1001, 0)]));
  await stream.send(beat(1002, 0));
  expect(secrets.map((found) => [...found])).toEqual([[...secret]]);
});

test('a time of the leader is never taken for later than it was', () => {
  for (const askedMs of [0, 50.5]) {
    for (const delayMs of [0, 3, 2000]) {
      const clock = new LeaderClock(askedMs);
      const local = (madeMs: number) => clock.local(madeMs + AHEAD_MS, madeMs + 10_000)!;
      const first = askedMs + delayMs;
      for (const madeMs of [first, first + 1000, first + 5000]) {
        expect(local(madeMs)).toBeLessThanOrEqual(madeMs);
        expect(local(madeMs)).toBeCloseTo(madeMs - delayMs, 6);
      }
    }
  }
});
