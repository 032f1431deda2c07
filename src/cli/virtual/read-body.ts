// Reads the JSON object that a command sends: a spec, or a request to propose one.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError, type World } from '../world.ts';
import { jsonObject } from './json-text.ts';

/**
 * Reads a file, or stdin when `file` is `-`. `what` describes the expected content in errors.
 * Throws UsageError when stdin is a terminal, and Error when the content cannot be read.
 */
export async function readBody(file: string, what: string, world: World): Promise<Record<string, unknown>> {
  const bytes = file === '-' ? await stdinOf(what, world) : bytesOf(file, world);
  try {
    return jsonObject(bytes);
  } catch (error) {
    throw new Error(`${file === '-' ? 'stdin' : file} ${(error as Error).message}. It takes ${what}.`);
  }
}

async function stdinOf(what: string, { stdin }: World): Promise<Uint8Array> {
  if (stdin.isTTY === true) throw new UsageError(`Name a FILE, or pipe ${what} in.`);
  const pieces: Uint8Array[] = [];
  for await (const piece of stdin) pieces.push(piece);
  return Buffer.concat(pieces);
}

function bytesOf(file: string, { cwd }: World): Uint8Array {
  try {
    return readFileSync(resolve(cwd, file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code}).`);
  }
}
