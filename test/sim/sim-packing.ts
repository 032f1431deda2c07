// Packs and unpacks the backups of a simulation at once, in the same turn of the event loop.
//
// zlib would work in threads of the process. The number of turns that everything else gets until
// such a thread is done depends on the machine, and each turn draws a random number from the seed.
// So a history with a backup would be different on a busy machine.

import { syncBuiltinESMExports } from 'node:module';
import { Transform, type TransformCallback } from 'node:stream';
import zlib from 'node:zlib';

/** Size of the pieces that the zlib streams produce. */
const PIECE_BYTES = 16_384;

class AtOnce extends Transform {
  readonly #work: (bytes: Uint8Array) => Uint8Array;
  readonly #taken: Uint8Array[] = [];

  constructor(work: (bytes: Uint8Array) => Uint8Array) {
    super();
    this.#work = work;
  }

  override _transform(chunk: Uint8Array, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#taken.push(chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    try {
      const made = this.#work(Buffer.concat(this.#taken));
      for (let from = 0; from < made.length; from += PIECE_BYTES) this.push(made.subarray(from, from + PIECE_BYTES));
      done();
    } catch (error) {
      done(error as Error);
    }
  }
}

/** Replaces the streams of zlib in this process, from now on. */
export function packAtOnce(): void {
  replace('createGzip', (options) => new AtOnce((bytes) => zlib.gzipSync(bytes, options)));
  replace('createGunzip', (options) => new AtOnce((bytes) => zlib.gunzipSync(bytes, options)));
  syncBuiltinESMExports();
}

function replace(name: 'createGzip' | 'createGunzip', value: (options?: zlib.ZlibOptions) => Transform): void {
  Object.defineProperty(zlib, name, { value, configurable: true, enumerable: true });
}
