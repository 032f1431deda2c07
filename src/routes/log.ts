// What a follower needs of its leader: a snapshot to begin with, and the log's frames after it.

import type { BackupStream, Database, FrameReader } from '../engine/index.ts';
import { encodeFrames, encodeHeartbeat, type Heartbeat } from '../follow/index.ts';
import { type ChunkSource, contentReply, type Reply } from '../http/index.ts';
import { type Call, type Route, validated } from './application.ts';
import { BYTES_TYPE, GZIP_TYPE, logAnswer, logQuery, snapshotAnswer } from './schemas/log.ts';
import { after, assertKeyValid, NOTHING, SOON_MS } from './stream-waits.ts';

/** While there is nothing to send, a heartbeat is sent this often. */
const HEARTBEAT_MS = 1000;
/**
 * Once there are frames, this much time passes before they are read, so that a follower costs
 * little however many commits there are.
 */
const REST_MS = 5;
/** The same for the workers of this service, whose reads wait for acknowledged writes. */
const WORKER_REST_MS = 1;

/** Sends frames as the follower takes them; ends when the service shuts down. */
class LogSource implements ChunkSource {
  readonly follows = true;
  readonly #call: Call;
  readonly #reader: FrameReader;
  #pieces: Iterator<Uint8Array> = [][Symbol.iterator]();
  #isEmpty = true;
  /** How long the stream goes on while there is nothing to send, in milliseconds. */
  readonly #waitMs: number;
  #sentMs: number;
  /**
   * When the next heartbeat is due: the first at once, so that a follower knows where it is and
   * what time it is here.
   */
  #beatMs = 0;
  #ended = false;
  #failure: unknown;

  constructor(call: Call, reader: FrameReader, waitMs: number) {
    this.#call = call;
    this.#reader = reader;
    this.#waitMs = waitMs;
    this.#sentMs = call.services.now();
  }

  next(): Uint8Array | null {
    const piece = this.#pieces.next();
    if (piece.done !== true) return piece.value;
    this.#isEmpty = true;
    if (this.#failure !== undefined) throw this.#failure;
    return this.#ended ? null : NOTHING;
  }

  wait(resume: () => void): boolean {
    if (this.#ended || !this.#isEmpty || this.#failure !== undefined) return false;
    this.#read().then(resume, (error: unknown) => {
      this.#failure = error;
      resume();
    });
    return true;
  }

  close(): void {
    this.#ended = true;
    this.#reader.close();
  }

  /** Reads frames, or waits and makes a heartbeat. */
  async #read(): Promise<void> {
    const { services, database } = this.#call;
    while (!this.#ended) {
      assertKeyValid(this.#call);
      if (this.#beatMs === 0) return this.#beat(services.cursors.secret);
      // With durability `async`, clients see LSNs that cannot be read from the log yet.
      const asked = { timeMs: services.now(), headLsn: database.lastLsn };
      const frames = await this.#reader.next();
      const { headLsn, lsn } = this.#reader;
      const now = services.now();
      if (frames.length > 0) {
        this.#beatMs = now + HEARTBEAT_MS;
        this.#sentMs = now;
        return this.#give(piecesOf(frames, headLsn, asked, database.crc32c));
      }
      if (services.draining || services.database !== database || now - this.#sentMs > this.#waitMs) {
        this.#ended = true;
        return;
      }
      const leftMs = this.#beatMs - now;
      if (leftMs <= 0) return this.#beat();
      if (database.lastLsn > lsn) await after(Math.min(SOON_MS, leftMs));
      else if (await database.whenVisible(lsn + 1, leftMs))
        await after(services.workers === undefined ? REST_MS : WORKER_REST_MS);
      // It resolves at once if the log has failed or the database closes.
      else if (this.#beatMs - services.now() > SOON_MS) await after(SOON_MS);
    }
  }

  #beat(cursorSecret?: Uint8Array): void {
    const { services, database } = this.#call;
    const timeMs = services.now();
    this.#beatMs = timeMs + HEARTBEAT_MS;
    const heartbeat = { timeMs, headLsn: database.lastLsn, cursorSecret };
    this.#give([encodeHeartbeat(heartbeat, database.crc32c)][Symbol.iterator]());
  }

  #give(pieces: Iterator<Uint8Array>): void {
    this.#pieces = pieces;
    this.#isEmpty = false;
  }
}

/** Yields frames, and then a heartbeat. */
function* piecesOf(
  frames: Awaited<ReturnType<FrameReader['next']>>,
  headLsn: number,
  heartbeat: Heartbeat,
  crc32c: Database['crc32c'],
): Generator<Uint8Array> {
  yield* encodeFrames(frames, headLsn, crc32c);
  yield encodeHeartbeat(heartbeat, crc32c);
}

/** Sends a backup piece by piece. */
class SnapshotSource implements ChunkSource {
  readonly #backup: BackupStream;
  #piece: Uint8Array | null = NOTHING;
  #failure: unknown;

  constructor(backup: BackupStream) {
    this.#backup = backup;
  }

  next(): Uint8Array | null {
    if (this.#failure !== undefined) throw this.#failure;
    const piece = this.#piece;
    if (piece !== null) this.#piece = NOTHING;
    return piece;
  }

  wait(resume: () => void): boolean {
    if (this.#piece === null || this.#failure !== undefined) return false;
    this.#backup.pieces
      .next()
      .then(
        ({ done, value }) => {
          this.#piece = done === true ? null : value;
        },
        (error: unknown) => {
          this.#failure = error;
        },
      )
      .then(resume);
    return true;
  }

  close(): void {
    void this.#backup.close();
  }
}

const log = validated({
  id: 'readLog',
  method: 'GET',
  path: '/v1/log',
  role: 'admin',
  summary: 'The frames of the log after an LSN, and those to come, for a follower.',
  data: true,
  answerTypes: [BYTES_TYPE],
  query: logQuery,
  answers: { 200: logAnswer },
  errors: [409, 410, 503],
  handler: async ({ query }, call) => {
    const reader = await call.database.frames.read(query.from_lsn, query.sum);
    const reply = contentReply(200, BYTES_TYPE, '', [['Cache-Control', 'no-store']]);
    return {
      ...reply,
      lsn: call.database.lastLsn,
      source: new LogSource(call, reader, (query.wait_s ?? Number.POSITIVE_INFINITY) * 1000),
    };
  },
});

const snapshot = validated({
  id: 'readSnapshot',
  method: 'GET',
  path: '/v1/snapshot',
  role: 'admin',
  summary: 'A backup of the whole database as it is now, with which a follower begins.',
  audit: 'backup.created',
  data: true,
  answerTypes: [GZIP_TYPE],
  answers: { 200: snapshotAnswer },
  errors: [500, 503, 507],
  handler: async (_input, { database, services }) => {
    database.frames.assertServes();
    const backup = await database.backupStream();
    const reply = contentReply(200, GZIP_TYPE, '', [['Cache-Control', 'no-store']]);
    // A worker that begins is nobody's backup.
    const facts: Reply['facts'] = services.workers === undefined ? undefined : { audit: 'none' };
    return { ...reply, lsn: backup.lsn, source: new SnapshotSource(backup), facts };
  },
});

export const logRoutes: readonly Route[] = [log, snapshot];
