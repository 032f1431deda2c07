// Masks a known key in a text, in every spelling in which a model or a provider may echo it.

const MASK = '[masked]';
/** Shorter keys are not secrets, and masking them would change ordinary text. */
const SHORTEST = 4;
/**
 * A key shorter than this is masked only as a whole word, and is not searched for in base64 and
 * hex.
 */
const SHORTEST_ANYWHERE = 8;
/**
 * Number of characters at the start of a key that are searched for everywhere in a text. After a
 * match, the rest of the key is compared (in base64 and hex, the rest of the run is masked without
 * a comparison). So no combination of key and text is slow.
 */
const HEAD = 64;

/**
 * Returns the text with the key masked wherever it occurs: literally, as escaped in JSON, HTML and
 * URLs, in hex, and in base64 at any offset within the encoded data.
 */
export function maskKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < SHORTEST) return text;
  let masked = maskSpelled(text, key);
  if (key.length < SHORTEST_ANYWHERE) return masked;
  for (const core of inBase64(key)) masked = masked.replace(new RegExp(`${core}[\\w+/-]*={0,2}`, 'g'), MASK);
  const hex = Buffer.from(key)
    .toString('hex')
    .slice(0, 2 * HEAD);
  return masked.replace(new RegExp(`${hex}[\\da-f]*`, 'gi'), MASK);
}

/**
 * Masks the key where each character is literal, percent-encoded, or escaped as in JSON or HTML, in
 * any mixture.
 */
function maskSpelled(text: string, key: string): string {
  const isWord = key.length < SHORTEST_ANYWHERE;
  const head = [...key.slice(0, HEAD)].map(spellingsOf).join('');
  const pattern = new RegExp(isWord ? `(?<![\\w-])${head}(?![\\w-])` : head, 'g');
  let masked = '';
  let from = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    masked += text.slice(from, found.index) + MASK;
    from = endOfKey(text, pattern.lastIndex, key.slice(HEAD));
    pattern.lastIndex = from;
  }
  return masked + text.slice(from);
}

/**
 * Compares `rest` with the text from `start` on. Returns the offset after the last character that
 * matches.
 */
function endOfKey(text: string, start: number, rest: string): number {
  let at = start;
  for (const character of rest) {
    const next = new RegExp(spellingsOf(character), 'y');
    next.lastIndex = at;
    if (!next.test(text)) return at;
    at = next.lastIndex;
  }
  return at;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Returns a pattern that matches every way to write one character. */
function spellingsOf(character: string): string {
  const code = character.codePointAt(0)!;
  const hex = [...code.toString(16)].map((digit) => `[${digit}${digit.toUpperCase()}]`).join('');
  const spellings = [
    `%${hex}`,
    `\\\\{1,4}u0{0,4}${hex}`,
    `\\\\{1,4}x${hex}`,
    `&#0{0,6}${code};`,
    `&#[xX]0{0,6}${hex};`,
  ];
  if (/["\\/]/.test(character)) spellings.push(`\\\\{1,4}${escaped(character)}`);
  const entity = ENTITIES[character];
  if (entity !== undefined) spellings.push(entity);
  return `(?:${[...spellings, escaped(character)].join('|')})`;
}

/**
 * Returns patterns for the first HEAD characters of the key in base64, one for each of the three
 * possible offsets of the key within a group of three bytes. Each contains only the characters that
 * depend on the key alone, and matches both alphabets of base64.
 */
function inBase64(key: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(key.slice(0, HEAD))]);
    const first = Math.ceil((before * 8) / 6);
    const end = Math.floor((bytes.length * 8) / 6);
    const core = bytes.toString('base64').slice(first, end);
    return core.replace(/\+/g, '[-+]').replace(/\//g, '[_/]');
  });
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
