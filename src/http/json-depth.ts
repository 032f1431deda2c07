// Limits how much a JSON body may contain, before it is parsed. For a few million brackets,
// JSON.parse takes seconds and a hundred times the memory of the body, and it cannot be
// interrupted.

/** Maximum nesting of lists and objects; no valid body nests ten deep. */
export const MOST_JSON_DEPTH = 100;
/**
 * Maximum number of lists and objects in one body: five for each operation of the largest batch. An
 * empty list takes 2 bytes of the body and about 60 bytes of the heap.
 */
export const MOST_JSON_NODES = 500_000;
/** Maximum number of values in one body: enough for 100,000 edges of 64 members. */
export const MOST_JSON_VALUES = 8_000_000;
/** Shorter bodies are parsed without this check. */
const SHORT_BODY = 4096;
const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Returns why a body must not be parsed, or undefined if it may be. The contents of strings do not
 * count. For invalid JSON either result is possible.
 */
export function jsonProblem(body: Uint8Array): string | undefined {
  if (body.length <= SHORT_BODY) return undefined;
  let depth = 0;
  let nodes = 0;
  let values = 1;
  for (let at = 0, end = body.length; at < end; at++) {
    const code = body[at]!;
    if (code === COMMA) values++;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      nodes++;
      if (++depth > MOST_JSON_DEPTH) return tooDeep();
      if (nodes > MOST_JSON_NODES) return tooManyNodes();
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    else if (code === QUOTE) at = textEnd(body, at + 1);
  }
  return values > MOST_JSON_VALUES ? tooManyValues() : undefined;
}

export function tooDeep(): string {
  return `holds lists or objects more than ${MOST_JSON_DEPTH} deep in one another; send a flatter one`;
}

export function tooManyNodes(): string {
  return `holds more than ${MOST_JSON_NODES} lists and objects; send several smaller ones`;
}

export function tooManyValues(): string {
  return `holds more than ${MOST_JSON_VALUES} values; send several smaller ones`;
}

/** Returns the index of the quote that ends a string. */
function textEnd(body: Uint8Array, start: number): number {
  let at = start;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}
