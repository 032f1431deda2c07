// Tests whether a text contains another text ("the part"), in time linear in the sum of their
// lengths.
//
// String.prototype.includes can take time proportional to the product of the lengths: four seconds
// for "aaa..." of 64,000 letters and "a...aba...a" of half as many. If the product is large, the
// text is searched with the algorithm of Knuth, Morris and Pratt (Fast pattern matching in strings,
// SIAM J. Comput. 6, 1977).
//
// KMP never moves backwards in the text. `borders[i]` is the length of the longest proper prefix of
// part[0..i] that is also a suffix of it. The invariant: after each letter of the text, `matched`
// is the length of the longest prefix of the part that ends at this letter. On a mismatch the next
// shorter candidate is `borders[matched - 1]`. Each letter raises `matched` by at most one and each
// fallback lowers it, so there are at most two steps per letter on average.
//
// Example: the borders of "abab" are 0, 0, 1, 2. In "abaabab", after "aba" the next letter is not
// the "b" expected; the candidate "a" (borders[2] = 1) fails as well, then "a" starts a new match.

/**
 * Product of the lengths of text and part up to which `includes` is used: a millisecond at worst.
 */
const FEW_STEPS = 2 ** 20;

/**
 * The part that was searched for last, and its borders, so that a part is prepared only once for
 * many texts.
 */
let lastPart = '';
let lastBorders: Int32Array = new Int32Array(0);

/** Returns the same result as `text.includes(part)`. */
export function containsText(text: string, part: string): boolean {
  if (part.length > text.length) return false;
  if (part.length * (text.length - part.length + 1) <= FEW_STEPS) return text.includes(part);
  if (part !== lastPart) {
    lastBorders = bordersOf(part);
    lastPart = part;
  }
  const borders = lastBorders;
  let matched = 0;
  for (let at = 0, end = text.length; at < end; at++) {
    const letter = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== letter) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === letter) matched++;
    if (matched === part.length) return true;
  }
  return false;
}

/**
 * Returns, for each prefix of the part, the length of the longest proper prefix of it that is also
 * a suffix of it.
 */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let matched = 0;
  for (let at = 1; at < part.length; at++) {
    const letter = part.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== letter) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === letter) matched++;
    borders[at] = matched;
  }
  return borders;
}
