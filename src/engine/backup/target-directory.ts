// Where a backup may go: the directory a caller named, resolved below the backup root, or a refusal. Nothing is made or changed here.

import { HedgerowError } from '../../errors.ts';
import type { Fs } from '../../storage/fs.ts';

type Looks = Pick<Fs, 'kindOf' | 'realPath'>;

const MAX_CHARACTERS = 1024;
/** What file systems take as one name. */
const MAX_PART_BYTES = 255;
/** Control, format (invisible) and unpaired surrogate characters, and the separators of lines and paragraphs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const DRIVE = /^[A-Za-z]:/;
/** Taken as it stands it would be a name; whoever decodes it once more would see another. */
const ENCODED = /%[0-9A-Fa-f]{2}/;

/**
 * The absolute path of `given` below `root` (an absolute path, perhaps not made yet); `root` itself when nothing is given. Throws `invalid_input` when it
 * leads out of the root in any way: by its parts, or over a link that stands on the way. The root itself may be reached over links: it is the operator's.
 */
export function targetDirectory(fs: Looks, root: string, given: string | undefined): string {
  const base = root.length > 1 ? root.replace(/\/+$/, '') : root;
  if (given === undefined) return base;
  checkText(given);
  const realRoot = fs.kindOf(base) === null ? base : fs.realPath(base);
  const parts = given.startsWith('/') ? partsBelow(given, [base, realRoot]) : given.split('/');
  for (const part of parts) checkPart(part);
  let path = base;
  for (const part of parts) {
    path = joined(path, part);
    const kind = fs.kindOf(path);
    if (kind === null) break; // nothing below can exist
    if (kind === 'link') checkLink(fs, path, realRoot);
    else if (kind !== 'directory') throw refused(`names ${JSON.stringify(part)}, which is no directory`);
  }
  return parts.reduce(joined, base);
}

/** Whether `path` is `root` or lies below it; both absolute and without links. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

function checkText(given: string): void {
  if (given === '') throw refused('is empty; leave it out for the backup root itself');
  if (given.length > MAX_CHARACTERS) throw refused(`is longer than ${MAX_CHARACTERS} characters`);
  if (UNSEEN.test(given)) throw refused('holds a control character or another that cannot be seen');
  if (given.includes('\\')) throw refused('holds a backslash; the parts of a path stand between slashes');
  if (DRIVE.test(given)) throw refused('names a drive; give a path below the backup root');
}

/** The parts of an absolute path behind the first of the roots that it lies in. */
function partsBelow(path: string, roots: readonly string[]): string[] {
  for (const root of roots) {
    if (path === root) return [];
    const prefix = root.endsWith('/') ? root : `${root}/`;
    if (path.startsWith(prefix)) return path.slice(prefix.length).split('/');
  }
  throw refused('lies outside of the backup root');
}

function checkPart(part: string): void {
  if (part === '') throw refused('has an empty part (two slashes, or one at the end)');
  if (ENCODED.test(part)) throw refused('has a part with a percent-encoded character; write it as it is meant');
  if (part === '..' || part === '.') throw refused(`has the part ${JSON.stringify(part)}`);
  if (/^\s|[\s.]$/u.test(part)) throw refused('has a part that begins with a space or ends with a dot or a space');
  if (DRIVE.test(part)) throw refused('names a drive; give a path below the backup root');
  if (Buffer.byteLength(part) > MAX_PART_BYTES) throw refused(`has a part of more than ${MAX_PART_BYTES} bytes`);
}

function checkLink(fs: Looks, path: string, realRoot: string): void {
  let real: string;
  try {
    real = fs.realPath(path);
  } catch {
    throw refused('goes over a link that leads nowhere');
  }
  if (!isInside(real, realRoot)) throw refused('goes over a link that leads out of the backup root');
  if (fs.kindOf(real) !== 'directory') throw refused('goes over a link to what is no directory');
}

function joined(path: string, part: string): string {
  return path.endsWith('/') ? path + part : `${path}/${part}`;
}

function refused(msg: string): HedgerowError {
  return new HedgerowError(
    'invalid_input',
    `backup_dir ${msg}. Name a directory below the backup root of the server (HEDGEROW_BACKUP_ROOT).`,
    { errors: [{ loc: ['body', 'backup_dir'], msg }] },
  );
}
