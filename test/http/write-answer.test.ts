// Tests the only writer of answers: whole or streamed, in the shared space or in memory of their
// own, with pieces that are lent, late or read twice.

import { describe, expect, test } from 'vitest';
import { AnswerSpace } from '../../src/http/answer/answer-space.ts';
import { type AnswerFormat, formatOf } from '../../src/http/answer/format.ts';
import { IDLE_PIECES, OPENINGS, type Opening } from '../../src/http/answer/openings.ts';
import { type AnswerText, writeAnswer } from '../../src/http/answer/write-answer.ts';
import type { ChunkSource, Reply } from '../../src/http/reply.ts';
import type { Call } from '../../src/http/route.ts';
import { Scheduler } from '../../src/schedule/scheduler.ts';

const space = new AnswerSpace();
const callOf = (more: Partial<Call> = {}) =>
  ({
    services: { space, scheduler: new Scheduler(() => performance.now()) },
    client: { gone: false },
    once: undefined,
    ...more,
  }) as unknown as Call;

interface Given {
  /** The pieces in order. null means that nothing is ready yet. */
  pieces: (string | null)[];
  framed?: boolean;
  /** Whether the format is lines of rows. */
  lines?: boolean;
  /** Whether the end is reported together with the last piece. */
  early?: boolean;
  look?: () => void;
}

/** A text that lends one buffer for all pieces, as the engine does. */
class Text implements AnswerText {
  readonly format: AnswerFormat;
  readonly frameBytes = 100;
  readonly given: Given;
  readonly lent = Buffer.alloc(200_000);
  readonly left: (string | null)[];
  looks = 0;
  closed = 0;
  restarts = 0;
  resume: (() => void) | undefined;

  constructor(given: Given) {
    this.given = given;
    this.format = formatOf(given.lines === true ? 'application/x-ndjson' : '');
    this.left = [...given.pieces];
  }
  get frame() {
    return this.given.framed === true ? this : undefined;
  }
  get isEnded() {
    return this.given.early === true && this.left.length === 0;
  }
  look() {
    this.looks += 1;
    this.given.look?.();
  }
  next() {
    if (this.left.length === 0) return null;
    const piece = this.left[0];
    if (piece === null) return Buffer.alloc(0);
    this.left.shift();
    this.lent.fill(0);
    return this.lent.subarray(0, this.lent.write(piece!));
  }
  wait(resume: () => void) {
    if (this.left[0] !== null) return false;
    setTimeout(() => {
      this.left.shift();
      resume();
    }, 1);
    return true;
  }
  writeHead(into: Uint8Array) {
    return Buffer.from(into.buffer, into.byteOffset).write('<');
  }
  writeTail(into: Uint8Array, from: number) {
    return from + Buffer.from(into.buffer, into.byteOffset).write('>', from);
  }
  reply(body: Uint8Array | undefined, source: ChunkSource | undefined) {
    return { body: body ?? '', source } as Reply;
  }
  restart() {
    this.restarts += 1;
    this.left.push(...this.given.pieces);
  }
  close() {
    this.closed += 1;
  }
}

const isShared = ({ body }: Reply) => (body as Uint8Array).buffer === space.bytes.buffer;
const textOf = ({ body }: Reply) => Buffer.from(body as Uint8Array).toString();

/** Reads a stream to its end and returns its text. */
async function rest({ source }: Reply): Promise<string> {
  let text = '';
  for (let chunk = source!.next(); chunk !== null; chunk = source!.next()) {
    if (chunk.length === 0) await new Promise<void>((resume) => source!.wait?.(resume) || resume());
    text += Buffer.from(chunk).toString();
  }
  source!.close();
  return text;
}

const small: Opening = { bytes: 10, pieces: 2, waits: true, toEnd: false };
const toEnd: Opening = { bytes: 10, pieces: 1, waits: true, toEnd: true };

describe('a text that ends soon', () => {
  test.each([
    [{ pieces: ['abc'], framed: true, early: true }, '<abc>', 1],
    [{ pieces: ['abc'], framed: true }, '<abc>', 2],
    [{ pieces: ['abc', 'de'], early: true }, 'abcde', 2],
    [{ pieces: [], framed: true }, '<>', 1],
    [{ pieces: ['abc'], framed: true, lines: true, early: true }, 'abc', 1],
    [{ pieces: [] }, '', 1],
    [{ pieces: ['abcdefghijklmno'], early: true }, 'abcdefghijklmno', 1],
  ])('is written whole and immediately in the shared space: %j', (given: Given, body, looks) => {
    const text = new Text(given);
    const reply = writeAnswer(callOf(), text, small, true) as Reply;
    expect([textOf(reply), reply.source, text.looks, text.closed]).toEqual([body, undefined, looks, 1]);
    expect(isShared(reply)).toBe(true);
  });

  test('gets memory of its own when it is sent later', () => {
    const once = {} as Call['once'];
    for (const [call, atOnce] of [
      [callOf({ once }), true],
      [callOf(), false],
    ] as const) {
      const text = new Text({ pieces: ['abc'], framed: true, early: true });
      const reply = writeAnswer(call, text, small, atOnce) as Reply;
      expect([isShared(reply), textOf(reply)]).toEqual([false, '<abc>']);
    }
  });

  test('gets memory of its own when the writer had to wait for it or when it is longer than the shared space', async () => {
    const late = new Text({ pieces: ['abc', null, 'de'], framed: true });
    const reply = await writeAnswer(callOf(), late, small, true);
    expect([isShared(reply), textOf(reply), late.closed]).toEqual([false, '<abcde>', 1]);
    const long = 'x'.repeat(space.bytes.length);
    const wide = new Text({ pieces: [long], framed: true, early: true });
    const wideReply = writeAnswer(callOf(), wide, small, true) as Reply;
    expect([isShared(wideReply), textOf(wideReply) === `<${long}>`]).toEqual([false, true]);
  });

  test('is closed when it fails, and its error is thrown', async () => {
    const fail = () => {
      throw new Error('too late');
    };
    const text = new Text({ pieces: ['abc'], look: fail });
    expect(() => writeAnswer(callOf(), text, small, true)).toThrow('too late');
    expect(text.closed).toBe(1);
    let looks = 0;
    const later = new Text({ pieces: ['abc', null, null, 'd'], look: () => ++looks > 3 && fail() });
    await expect(writeAnswer(callOf(), later, small, true)).rejects.toThrow('too late');
    expect(later.closed).toBe(1);
  });
});

describe('a longer text', () => {
  test.each([true, false])('becomes a stream that begins with the pieces already read (framed: %s)', async (framed) => {
    const pieces = ['abcd', 'efgh', null, 'ijkl', null, 'mnop', 'q'];
    const text = new Text({ pieces, framed });
    const reply = await writeAnswer(callOf(), text, small, true);
    expect([reply.body, text.closed]).toEqual(['', 0]);
    // Another answer takes the shared space in between.
    space.bytes.fill(0);
    expect(await rest(reply)).toBe(framed ? '<abcdefghijklmnopq>' : 'abcdefghijklmnopq');
    expect(text.closed).toBe(1);
  });

  test('becomes a stream after the first pieces when the writer may not wait for more', async () => {
    const text = new Text({ pieces: ['a', 'b', '', 'c'], framed: true });
    const reply = writeAnswer(callOf(), text, { ...OPENINGS.rows, pieces: 2 }, true) as Reply;
    space.bytes.fill(0);
    expect(text.looks).toBe(2);
    expect(await rest(reply)).toBe('<abc>');
  });

  test('is read on in later turns after an empty piece, until there is one that is not', async () => {
    for (const early of [false, true]) {
      const text = new Text({ pieces: ['', '', '', 'abc'], framed: true, early });
      const answer = writeAnswer(callOf(), text, OPENINGS.rows, true);
      expect(answer).toBeInstanceOf(Promise);
      expect(text.looks).toBe(1);
      space.bytes.fill(0);
      const reply = await answer;
      expect([text.looks, reply.source === undefined]).toEqual([4, early]);
      expect(early ? textOf(reply) : await rest(reply)).toBe('<abc>');
    }
  });

  test('begins after many empty pieces', async () => {
    const text = new Text({ pieces: [...Array.from({ length: 500 }, () => ''), 'abc'], framed: true });
    const reply = await writeAnswer(callOf(), text, OPENINGS.rows, true);
    expect(text.looks).toBe(1 + IDLE_PIECES);
    expect(await rest(reply)).toBe('<abc>');
  });

  test('is an error if it fails after empty pieces, and is not broken off', async () => {
    const text = new Text({ pieces: ['', '', 'abc'], framed: true });
    const next = text.next.bind(text);
    let pieces = 0;
    text.next = () => {
      if (++pieces === 3) throw new Error('the segment is corrupt');
      return next();
    };
    await expect(writeAnswer(callOf(), text, OPENINGS.rows, true)).rejects.toThrow('the segment is corrupt');
    expect(text.closed).toBe(1);
  });

  test('is not read further when its client has disconnected', async () => {
    const text = new Text({ pieces: ['abc', 'def'] });
    const reply = await writeAnswer(callOf({ client: { gone: true } }), text, small, true);
    expect([text.looks, reply.source === undefined]).toEqual([0, false]);
    reply.source!.close();
    expect(text.closed).toBe(1);
  });
});

describe('a text that is read to its end first', () => {
  test('is sent whole when it is short', async () => {
    const text = new Text({ pieces: ['ab', null, 'cd'] });
    const reply = await writeAnswer(callOf(), text, toEnd, true);
    expect([textOf(reply), text.restarts, text.closed]).toEqual(['abcd', 0, 1]);
  });

  test('is read again when it is long', async () => {
    const pieces = ['abcdefg', 'hijklmn', null, 'o'];
    const text = new Text({ pieces });
    const reply = await writeAnswer(callOf(), text, toEnd, true);
    expect([reply.body, text.restarts, text.closed]).toEqual(['', 1, 0]);
    expect(await rest(reply)).toBe('abcdefghijklmno');
    expect(text.closed).toBe(1);
  });

  test('is not read again when its client has disconnected meanwhile', async () => {
    const client = { gone: false };
    const text = new Text({
      pieces: ['abcdefghijkl', null, 'm'],
      look: () => {
        client.gone = text.left.length < 3;
      },
    });
    const reply = await writeAnswer(callOf({ client }), text, toEnd, true);
    expect([text.restarts, reply.source === undefined]).toEqual([0, false]);
  });
});
