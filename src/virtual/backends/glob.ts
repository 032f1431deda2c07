// Patterns for file names: `*`, `?` and `[a-z]` within a name, `**` for folders of any depth.

const WILDCARD = /[*?[]/;

export function hasWildcard(text: string): boolean {
  return WILDCARD.test(text);
}

/**
 * Compiles the pattern of one name to a test. Hidden names only match patterns that begin with a
 * dot.
 */
export function nameTest(pattern: string): (name: string) => boolean {
  const hidden = pattern.startsWith('.');
  // Adjacent stars mean the same as one, but would slow down the refusal of a long name.
  const parts = pattern.replaceAll(/\*+/g, '*').match(/\*|\?|\[!?\]?[^\]]*\]|[\s\S]/gu) ?? [];
  return (name) => (hidden || !name.startsWith('.')) && matches(parts, [...name]);
}

/**
 * Backtracks only to the last star, which suffices because an earlier star never needs to be
 * widened. Linear in practice; at worst name length times pattern length.
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
 * The table name of a file is its stem. For a pattern it is the text before the first wildcard of
 * the last name, or else the nearest folder without a wildcard.
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
