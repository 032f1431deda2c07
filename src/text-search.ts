// Whether a text holds another one, in time that grows with the sum of their lengths.
//
// String.prototype.includes takes their product at worst: four seconds for "aaa..." of 64,000 letters and "a...aba...a" of half as many. Where the product is large, the text is searched as
// Knuth, Morris and Pratt do (Fast pattern matching in strings, SIAM J. Comput. 6, 1977).

/** Of letters of the text and of the part: `includes` takes a millisecond at worst. */
const FEW_STEPS = 2 ** 20;

/** The part looked for last, and where to look again after each of its letters. */
let lastPart = '';
let lastBorders: Int32Array = new Int32Array(0);

/** As `text.includes(part)`. */
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

/** For each beginning of the part: how long the longest of its ends is that is also a beginning, itself left out. */
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
