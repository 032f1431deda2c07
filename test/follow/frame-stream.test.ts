import { describe, expect, test } from 'vitest';
import type { LogFrame } from '../../src/engine/index.ts';
import { encodeFrames, encodeHeartbeat, FrameDecoder, type Heartbeat } from '../../src/follow/frame-stream.ts';
import { crc32c } from '../support/crc32c.ts';
import { Random } from '../support/random.ts';

function frameOf(random: Random, firstLsn: number, bytes: number): LogFrame {
  const payload = Uint8Array.from({ length: bytes }, () => random.below(256));
  return { firstLsn, operations: 1 + random.below(9), seconds: random.below(2 ** 31), payload };
}

/** A frame whose payload is a text, which is compared in a fraction of the time. */
function summary({ payload, ...rest }: LogFrame): object {
  return { ...rest, payload: Buffer.from(payload).toString('base64') };
}

function streamOf(frames: readonly LogFrame[], headLsn: number): Buffer {
  return Buffer.concat([...encodeFrames(frames, headLsn, crc32c)].map((piece) => Buffer.from(piece)));
}

/** Decodes a stream in pieces of random sizes. */
function decoded(
  stream: Uint8Array,
  random: Random,
): { frames: LogFrame[]; headLsn: number | undefined; heartbeat: Heartbeat | undefined } {
  const decoder = new FrameDecoder(crc32c);
  const frames: LogFrame[] = [];
  let headLsn: number | undefined;
  let heartbeat: Heartbeat | undefined;
  for (let at = 0; at < stream.length; ) {
    const size = 1 + random.below(random.chance(0.5) ? 7 : 100_000);
    const received = decoder.receive(stream.subarray(at, at + size));
    frames.push(...received.frames);
    headLsn = received.headLsn ?? headLsn;
    heartbeat = received.heartbeat ?? heartbeat;
    at += size;
  }
  expect(decoder.heldBytes).toBe(0);
  return { frames, headLsn, heartbeat };
}

describe('a stream of frames', () => {
  test.each([1, 2, 3])('gives the same frames, however it is cut (seed %i)', (seed) => {
    const random = new Random(seed);
    const sizes = [0, 1, 40, 5000, 2 ** 18, 2 ** 18 + 1, 700_000];
    const frames = sizes.map((bytes, place) => frameOf(random, 2 ** 33 + place * 100, bytes));
    const cursorSecret = Uint8Array.of(1, 2, 3);
    const heartbeat = { timeMs: 3_600_000_000.125, headLsn: 2 ** 40 + 7, cursorSecret };
    const stream = Buffer.concat([streamOf(frames, 2 ** 40), encodeHeartbeat(heartbeat, crc32c)]);
    const found = decoded(stream, random);
    expect(found).toMatchObject({ headLsn: 2 ** 40 + 7, heartbeat });
    expect(found.frames.map(summary)).toEqual(frames.map(summary));
  });

  test('says how far the leader is as soon as the header of a frame has arrived', () => {
    const stream = streamOf([frameOf(new Random(5), 8, 1000)], 90);
    const decoder = new FrameDecoder(crc32c);
    expect(decoder.receive(stream.subarray(0, 31)).headLsn).toBeUndefined();
    expect(decoder.announcedLsn).toBeUndefined();
    expect(decoder.receive(stream.subarray(31, 500)).headLsn).toBeUndefined();
    expect(decoder.announcedLsn).toBe(90);
    expect(decoder.receive(stream.subarray(500)).headLsn).toBe(90);
  });

  test('with any damaged byte is refused, or ends in the middle of a message', () => {
    const random = new Random(4);
    const frames = [frameOf(random, 5, 30), frameOf(random, 9, 12)];
    const stream = streamOf(frames, 12);
    for (let at = 0; at < stream.length; at++) {
      const bad = Uint8Array.from(stream);
      bad[at] = bad[at]! ^ (1 << random.below(8));
      const decoder = new FrameDecoder(crc32c);
      let found: readonly LogFrame[] = [];
      let code: unknown;
      try {
        found = decoder.receive(bad).frames;
      } catch (error) {
        code = (error as { code?: unknown }).code;
      }
      if (code === undefined) expect(decoder.heldBytes, `byte ${at}`).toBeGreaterThan(0);
      else expect(code, `byte ${at}`).toBe('corrupt');
      expect(found.length).toBeLessThan(2);
    }
  });
});
