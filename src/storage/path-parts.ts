// Splits a path that a client names, which must be below a root directory, into checked parts.
// Refuses any path that would lead out of the root. Symbolic links below the root are not checked.

import type { Fs } from './fs.ts';

export interface PathRules {
  /** Name of the root in error messages, such as `the backup root`. */
  readonly rootName: string;
  /** Returns the error for a bad path; `what` is the reason, such as `holds a backslash`. */
  readonly refused: (what: string) => Error;
}

export interface PathBelow {
  /** The root as given, without trailing slashes. */
  readonly base: string;
  /**
   * The root with its symbolic links resolved (the operator chose them); `base` if the root does
   * not exist yet.
   */
  readonly realRoot: string;
  readonly parts: readonly string[];
}

const MAX_CHARACTERS = 1024;
/** Maximum length of one name in common file systems. */
const MAX_PART_BYTES = 255;
/**
 * Characters that cannot be seen: control and format characters, unpaired surrogates, line and
 * paragraph separators.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const DRIVE = /^[A-Za-z]:/;
/**
 * A percent-encoded character. It is refused, because decoding the path once more would change it.
 */
const ENCODED = /%[0-9A-Fa-f]{2}/;

/**
 * Splits and checks the path `given`, which is relative, or absolute and inside `root`. `root` is
 * an absolute path that need not exist yet. Throws the error returned by `refused`.
 */
export function pathBelow(
  fs: Pick<Fs, 'kindOf' | 'realPath'>,
  root: string,
  given: string,
  rules: PathRules,
): PathBelow {
  const base = root.length > 1 ? root.replace(/\/+$/, '') : root;
  checkText(given, rules);
  const realRoot = fs.kindOf(base) === null ? base : fs.realPath(base);
  const parts = given.startsWith('/') ? partsBelow(given, [base, realRoot], rules) : given.split('/');
  for (const part of parts) checkPart(part, rules);
  return { base, realRoot, parts };
}

export function joined(path: string, part: string): string {
  return path.endsWith('/') ? path + part : `${path}/${part}`;
}

function checkText(given: string, { refused, rootName }: PathRules): void {
  if (given === '') throw refused('is empty');
  if (given.length > MAX_CHARACTERS) throw refused(`is longer than ${MAX_CHARACTERS} characters`);
  if (UNSEEN.test(given)) throw refused('holds a control character or another invisible character');
  if (given.includes('\\')) throw refused('holds a backslash; separate the parts of a path with slashes');
  if (DRIVE.test(given)) throw refused(`names a drive; give a path below ${rootName}`);
}

/** Returns the parts of an absolute path relative to the first root that contains it. */
function partsBelow(path: string, roots: readonly string[], { refused, rootName }: PathRules): string[] {
  for (const root of roots) {
    if (path === root) return [];
    const prefix = root.endsWith('/') ? root : `${root}/`;
    if (path.startsWith(prefix)) return path.slice(prefix.length).split('/');
  }
  throw refused(`is outside of ${rootName}`);
}

function checkPart(part: string, { refused, rootName }: PathRules): void {
  if (part === '') throw refused('has an empty part (two slashes, or one at the end)');
  if (ENCODED.test(part)) throw refused('has a part with a percent-encoded character; write the character itself');
  if (part === '..' || part === '.') throw refused(`has the part ${JSON.stringify(part)}`);
  if (/^\s|[\s.]$/u.test(part)) throw refused('has a part that begins with a space or ends with a dot or a space');
  if (DRIVE.test(part)) throw refused(`names a drive; give a path below ${rootName}`);
  if (Buffer.byteLength(part) > MAX_PART_BYTES) throw refused(`has a part of more than ${MAX_PART_BYTES} bytes`);
}
