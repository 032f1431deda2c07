// Takes a known key out of a text, in every spelling that a model or a provider may echo it in.

const MASK = '[masked]';
/** A shorter key is no secret, and masking it would hit everything. */
const SHORTEST = 4;
/** A key shorter than this is masked only where it is a word of its own, and not looked for in base64 and hex. */
const SHORTEST_ANYWHERE = 8;
/** This many characters of a key are looked for at every place of a text, the rest only after a match: no pair of key and text is slow. */
const HEAD = 64;

/** The text without the key: as it is, as JSON, HTML and addresses write it, in hex, and in base64 at any offset of what was encoded. */
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

/** Each character as itself, percent-encoded, or escaped as JSON and HTML do; mixtures as well. */
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

/** Where the rest of a key that continues at a place ends, or the place itself when other text follows. */
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

/** A pattern of every way to write one character. */
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

/** The characters of base64 that the key alone decides, for each of the three places it can begin at within three bytes; both alphabets. */
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
