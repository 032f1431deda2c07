// Matches single names against patterns with `*`, `?` and `[a-z]`, and derives the name of a table
// from a path. (`**`, for any number of nested folders, is handled in files.ts.)

const WILDCARD = /[*?[]/;

export function hasWildcard(text: string): boolean {
  return WILDCARD.test(text);
}

/**
 * Compiles the pattern for one name into a test. A hidden name matches only a pattern that begins
 * with a dot.
 */
export function nameTest(pattern: string): (name: string) => boolean {
  const hidden = pattern.startsWith('.');
  // Adjacent stars mean the same as one star, but would make it slow to reject a long name.
  const parts = pattern.replaceAll(/\*+/g, '*').match(/\*|\?|\[!?\]?[^\]]*\]|[\s\S]/gu) ?? [];
  return (name) => (hidden || !name.startsWith('.')) && matches(parts, [...name]);
}

/**
 * Matches a name against the parts of a pattern. After a mismatch it lets the last star match one
 * character more and continues from there; an earlier star never needs to match more. Takes linear
 * time in practice; at worst, the length of the name times the length of the pattern.
 */
function matches(parts: readonly string[], name: readonly string[]): boolean {
  let part = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    if (part < parts.length && parts[part] === '*') {
      star = part++;
      resume = at;
    } else if (part < parts.length && matchesOne(parts[part]!, name[at]!)) {
      part++;
      at++;
    } else if (star >= 0) {
      part = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (parts[part] === '*') part++;
  return part === parts.length;
}

function matchesOne(part: string, character: string): boolean {
  if (part === '?') return true;
  if (part.length === 1 || !part.startsWith('[')) return part === character;
  const negated = part[1] === '!';
  const set = [...part.slice(negated ? 2 : 1, -1)];
  let found = false;
  for (let at = 0; at < set.length; at++) {
    const from = set[at]!;
    const range = set[at + 1] === '-' && at + 2 < set.length;
    const to = range ? set[at + 2]! : from;
    if (range) at += 2;
    if (character >= from && character <= to) found = true;
  }
  return found !== negated;
}

const PACKED = /\.(gz|zst)$/i;

/**
 * Returns the table name for a path. For a file it is the file name without its extension and
 * without `.gz` or `.zst`. For a pattern it is the text before the first wildcard in the last name
 * or, if there is no such text, the nearest folder without a wildcard, or `rootName` if there is
 * none.
 */
export function tableNameOf(path: string, rootName: string): string {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const last = names.at(-1) ?? '';
  if (!hasWildcard(last)) return stemOf(last);
  const before = last.slice(0, last.search(WILDCARD));
  if (before !== '') return before;
  return names.slice(0, -1).findLast((name) => !hasWildcard(name)) ?? rootName;
}

function stemOf(name: string): string {
  const plain = name.replace(PACKED, '');
  const dot = plain.lastIndexOf('.');
  return dot > 0 ? plain.slice(0, dot) : plain;
}
