// Writes an export to stdout or to a file. The file gets its final name only when it is complete,
// and is compressed when its name ends with .gz.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { FILE_MODE } from '../../storage/index.ts';
import type { Output } from '../world.ts';

/**
 * Writes all pieces to the file, or to `stdout` when `path` is undefined. Rejects with the error
 * that stops the export, and leaves no new file in that case.
 */
export async function writeOutput(
  pieces: AsyncIterable<Uint8Array>,
  path: string | undefined,
  stdout: Output,
): Promise<void> {
  if (path === undefined) {
    for await (const piece of pieces) await writeTo(stdout, piece);
    return;
  }
  if (existsSync(path))
    throw new Error(`${path} exists already and is not overwritten. Take another name, or remove it first.`);
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await writeFile(pieces, temporary, path.toLowerCase().endsWith('.gz'));
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

async function writeFile(pieces: AsyncIterable<Uint8Array>, path: string, packed: boolean): Promise<void> {
  const file = createWriteStream(path, { flags: 'wx', mode: FILE_MODE });
  const done = finished(file);
  done.catch(() => undefined);
  const sink = packed ? createGzip() : file;
  if (packed) sink.pipe(file);
  try {
    for await (const piece of pieces) if (!sink.write(piece)) await Promise.race([once(sink, 'drain'), done]);
    sink.end();
    await done;
  } catch (error) {
    sink.destroy();
    file.destroy();
    // Until it is closed, the file may still be being created, after the caller has removed it.
    await done.catch(() => undefined);
    throw error;
  }
  const handle = await open(path, 'r');
  await handle.sync();
  await handle.close();
}

/**
 * Passes bytes to `write`, although its type takes text, because Parquet is binary. Waits while the
 * output is full.
 */
async function writeTo(output: Output, piece: Uint8Array): Promise<void> {
  const write = output.write as unknown as (piece: Uint8Array) => unknown;
  if (write.call(output, piece) === false && output.once !== undefined)
    await new Promise<void>((resolve) => output.once?.('drain', resolve));
}
