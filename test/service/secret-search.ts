// Searches texts and files for secrets: verbatim, and in forms that are easily overlooked (base64,
// hexadecimal, escaped, in archives).

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export interface Secret {
  name: string;
  text: string;
}

interface Needle {
  /** For example `admin key in hexadecimal`. */
  name: string;
  bytes: Buffer;
}

const known = new Map<string, Needle[]>();

/** Returns every form of every secret. */
export function needlesOf(secrets: readonly Secret[]): Needle[] {
  return secrets.flatMap((secret) => {
    const key = `${secret.name} ${secret.text}`;
    const needles = known.get(key) ?? formsOf(secret);
    known.set(key, needles);
    return needles;
  });
}

function formsOf({ name, text }: Secret): Needle[] {
  const hex = Buffer.from(text).toString('hex');
  const forms: [string, string][] = [
    ['as it is', text],
    ['in hexadecimal', hex],
    ['in capital hexadecimal', hex.toUpperCase()],
    ['percent-encoded', encodeURIComponent(text)],
    ['backwards', [...text].reverse().join('')],
    ...[0, 1, 2].map((shift): [string, string] => ['in base64', base64At(text, shift, 'base64')]),
    ...[0, 1, 2].map((shift): [string, string] => ['in base64url', base64At(text, shift, 'base64url')]),
  ];
  const utf16: Needle = { name: `${name} in UTF-16`, bytes: Buffer.from(text, 'utf16le') };
  return [utf16, ...forms.map(([form, found]) => ({ name: `${name} ${form}`, bytes: Buffer.from(found) }))];
}

/**
 * Returns the part of the base64 form of `text` that does not depend on its neighbours, when
 * `shift` (modulo 3) bytes precede the text.
 */
function base64At(text: string, shift: number, encoding: 'base64' | 'base64url'): string {
  const coded = Buffer.from('\0'.repeat(shift) + text).toString(encoding);
  const whole = Math.floor((shift + text.length) / 3) * 4;
  return coded.slice(shift === 0 ? 0 : 4, whole);
}

/** Returns the names of the needles in `hay`, each once. */
export function findIn(hay: string | Buffer, needles: readonly Needle[]): string[] {
  const bytes = typeof hay === 'string' ? Buffer.from(hay) : hay;
  return [...new Set(needles.filter((needle) => bytes.includes(needle.bytes)).map((needle) => needle.name))];
}

/**
 * Returns `file: needle` for every file below `dir` that contains a needle in its name or its
 * content. Gzip is unpacked.
 */
export function findBelow(dir: string, needles: readonly Needle[]): { files: number; found: string[] } {
  const found: string[] = [];
  const names = readdirSync(dir, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  for (const entry of names) found.push(...findIn(entry.name, needles).map((name) => `name of a file: ${name}`));
  for (const entry of files) {
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    for (const hay of isGzip ? [bytes, gunzipSync(bytes)] : [bytes]) {
      found.push(...findIn(hay, needles).map((name) => `${path}: ${name}`));
    }
  }
  return { files: files.length, found };
}
