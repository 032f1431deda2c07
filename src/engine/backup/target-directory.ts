// Decides where a backup may be written: resolves the directory that the caller names, which must
// be below the backup root. Changes nothing on disk.

import { HedgerowError } from '../../errors.ts';
import { type Fs, joined, type PathRules, pathBelow } from '../../storage/index.ts';

type Looks = Pick<Fs, 'kindOf' | 'realPath'>;

const RULES: PathRules = { rootName: 'the backup root', refused };

/**
 * Returns the absolute path of `given` below `root`, or `root` itself if nothing is given. `root`
 * is an absolute path that need not exist yet. Throws `invalid_input` if the path leads out of the
 * root, by its components or through a link. The root itself may be reached through links, because
 * the operator chose it.
 */
export function targetDirectory(fs: Looks, root: string, given: string | undefined): string {
  if (given === undefined) return root.length > 1 ? root.replace(/\/+$/, '') : root;
  if (given === '') throw refused('is empty; leave it out for the backup root itself');
  const { base, realRoot, parts } = pathBelow(fs, root, given, RULES);
  let path = base;
  for (const part of parts) {
    path = joined(path, part);
    const kind = fs.kindOf(path);
    if (kind === null) break; // nothing below it can exist
    if (kind === 'link') checkLink(fs, path, realRoot);
    else if (kind !== 'directory') throw refused(`names ${JSON.stringify(part)}, which is not a directory`);
  }
  return parts.reduce(joined, base);
}

/** Returns whether `path` is `root` or below it. Both must be absolute and free of links. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

function checkLink(fs: Looks, path: string, realRoot: string): void {
  let real: string;
  try {
    real = fs.realPath(path);
  } catch {
    throw refused('contains a link that leads nowhere');
  }
  if (!isInside(real, realRoot)) throw refused('contains a link that leads out of the backup root');
  if (fs.kindOf(real) !== 'directory') throw refused('goes over a link to something other than a directory');
}

function refused(msg: string): HedgerowError {
  return new HedgerowError('invalid_input', `backup_dir ${msg}. Name a directory below the backup root.`, {
    errors: [{ loc: ['body', 'backup_dir'], msg }],
    fields: { settings: ['backupRoot'] },
  });
}
