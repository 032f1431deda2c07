// Reads a JSON document from a file or from stdin.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError, type World } from '../world.ts';

/**
 * Reads the document; `-` means stdin. Throws UsageError when stdin is a terminal, and Error when
 * the document cannot be read.
 */
export async function readJson(file: string, world: World): Promise<unknown> {
  const label = file === '-' ? 'stdin' : file;
  const bytes = file === '-' ? await readStdin(world) : readWhole(file, world);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    const what = bytes.length === 0 ? 'empty' : 'not a JSON document in UTF-8';
    throw new Error(`${label} is ${what}; give it a proof, proofs or a whole answer, as the service sends it.`);
  }
}

async function readStdin({ stdin }: World): Promise<Uint8Array> {
  if (stdin.isTTY === true) throw new UsageError('Name a FILE, or pipe an answer in: curl ... | hedgerow check-proof');
  const pieces: Uint8Array[] = [];
  for await (const piece of stdin) pieces.push(piece);
  return Buffer.concat(pieces);
}

function readWhole(file: string, { cwd }: World): Uint8Array {
  try {
    return readFileSync(resolve(cwd, file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Error(`There is no file ${file}.`);
    throw new Error(`${file} cannot be read (${code}).`);
  }
}
