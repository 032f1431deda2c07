// Parses a JSON object that a person wrote, and reports faults with line and column.

/**
 * Throws an Error whose message is meant to follow the name of the file: "is not JSON: line 3,
 * column 7: ...".
 */
export function jsonObject(bytes: Uint8Array): Record<string, unknown> {
  if (bytes.length === 0) throw new Error('is empty');
  const value = jsonValue(textOf(bytes));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  throw new Error(`holds ${kind}, no object`);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('is not UTF-8 text');
  }
}

function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const fault = faultOf(text);
    // This happens only if this reader accepts a text that JSON.parse rejects.
    if (fault === undefined) throw new Error(`is not JSON (${(error as Error).message})`);
    const before = text.slice(0, fault.offset).split('\n');
    const place = `line ${before.length}, column ${[...before.at(-1)!].length + 1}`;
    const found = fault.offset < text.length ? JSON.stringify(wordAt(text, fault.offset)) : 'the end';
    throw new Error(`is not JSON: ${place}: found ${found}, but expected ${fault.expected}`);
  }
}

const MOST_SHOWN = 30;

function wordAt(text: string, offset: number): string {
  return /^(?:[\w.+-]+|[\s\S])/u.exec(text.slice(offset, offset + MOST_SHOWN))?.[0] ?? '';
}

const BLANKS = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON texts may not contain them
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const PLAIN = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

/**
 * What may come next: a value, a key, the colon after a key, or what follows a value (`behind`).
 */
type Next = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'behind';

const EXPECTED: Readonly<Record<Exclude<Next, 'behind'>, string>> = {
  value: 'a value',
  'first value': 'a value or ]',
  key: 'a name in double quotes',
  'first key': 'a name in double quotes or }',
  colon: ':',
};

/**
 * Returns the first place from which the text cannot continue as JSON; undefined for valid JSON.
 */
function faultOf(text: string): { offset: number; expected: string } | undefined {
  const open: ('{' | '[')[] = [];
  let next: Next = 'value';
  let at = lengthAt(BLANKS, text, 0);
  while (next !== 'behind' || open.length > 0 || at < text.length) {
    const step = stepAt(text, at, next, open);
    if (step === undefined) return { offset: at, expected: next === 'behind' ? behind(open.at(-1)) : EXPECTED[next] };
    next = step.next;
    at += step.length;
    at += lengthAt(BLANKS, text, at);
  }
  return undefined;
}

function behind(inside: '{' | '[' | undefined): string {
  if (inside === undefined) return 'the end';
  return inside === '{' ? ', or }' : ', or ]';
}

/**
 * Reads one token that `next` allows, and updates `open`. Returns undefined for any other token.
 */
function stepAt(text: string, at: number, next: Next, open: ('{' | '[')[]): { next: Next; length: number } | undefined {
  const character = text[at];
  if (next === 'colon') return character === ':' ? { next: 'value', length: 1 } : undefined;
  if (next === 'behind') return stepBehind(character, open);
  if ((next === 'first key' && character === '}') || (next === 'first value' && character === ']')) {
    open.pop();
    return { next: 'behind', length: 1 };
  }
  if (next === 'key' || next === 'first key') {
    const length = lengthAt(TEXT, text, at);
    return length === 0 ? undefined : { next: 'colon', length };
  }
  if (character === '{' || character === '[') {
    open.push(character);
    return { next: character === '{' ? 'first key' : 'first value', length: 1 };
  }
  const length = lengthAt(TEXT, text, at) || lengthAt(PLAIN, text, at);
  return length === 0 ? undefined : { next: 'behind', length };
}

function stepBehind(character: string | undefined, open: ('{' | '[')[]): { next: Next; length: number } | undefined {
  const inside = open.at(-1);
  if (inside === undefined) return undefined;
  if (character === ',') return { next: inside === '{' ? 'key' : 'value', length: 1 };
  if (character !== (inside === '{' ? '}' : ']')) return undefined;
  open.pop();
  return { next: 'behind', length: 1 };
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}
