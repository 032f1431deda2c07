// Checks that a path can name only files below the root. Links are checked where files are opened.

import { isAbsolute, join, normalize, relative } from 'node:path';
import type { BackendType } from './backend.ts';

const MAX_PATH = 1024;
/** Maximum length of one path component in bytes, as in common file systems. */
const MAX_PART_BYTES = 255;

/**
 * Returns the fault of a path, as the end of a sentence that begins with the name of the field.
 * Returns undefined if the path is valid.
 */
export function wrongPath(path: string, type: BackendType, root: string): string | undefined {
  return wrongCharacters(path) ?? wrongParts(path, root) ?? wrongGlob(path, type);
}

function wrongCharacters(path: string): string | undefined {
  if (path.length > MAX_PATH) return `has ${path.length} characters, more than ${MAX_PATH}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  if (/[\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(path)) return 'holds a control character, which no file name needs';
  if (path.includes('\\')) return 'holds a backslash; separate folders with /';
  if (path.includes('://') || /^[^/]*:/.test(path))
    return 'must be a plain file path: addresses such as s3: or http: are not opened';
  if (/%(2e|2f|5c|00)/i.test(path)) return 'holds an encoded dot, slash or NUL; write the path plainly';
  if (path.trim() !== path) return 'begins or ends with a blank';
  return path.startsWith('~') ? 'begins with ~, which is not expanded here' : undefined;
}

function wrongParts(path: string, root: string): string | undefined {
  const parts = path.split('/');
  if (parts.includes('..')) return 'holds "..", but must stay below the folder for virtual graphs';
  if (path.startsWith('//')) return 'begins with //; write it relative to the folder for virtual graphs';
  if (parts.some((part) => Buffer.byteLength(part) > MAX_PART_BYTES))
    return `has a part longer than ${MAX_PART_BYTES} bytes`;
  const inside = insideRoot(path, root);
  if (inside === undefined) return 'leads out of the folder for virtual graphs; write it relative to that folder';
  return inside === '' || /\/\.?$/.test(path) ? 'names a folder, but must name a file' : undefined;
}

/** Returns the path relative to the root, or undefined if it leads out of the root. */
export function insideRoot(path: string, root: string): string | undefined {
  const inside = isAbsolute(path) ? relative(root, normalize(path)) : relative(root, join(root, path));
  return inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? undefined : inside;
}

function wrongGlob(path: string, type: BackendType): string | undefined {
  if (/[{}]/.test(path)) return 'holds braces; a pattern takes *, ? and [..]';
  if (type === 'duckdb' && /[*?[\]]/.test(path)) return 'is a pattern, but a database is one file';
  return undefined;
}
