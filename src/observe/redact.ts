// Keeps secrets out of what the service writes: masks text that looks like a secret, and the texts
// registered as secrets.

import { wellFormed } from '../model/text.ts';

/** The text that replaces a secret. */
export const MASK = '[masked]';

/** Secrets shorter than this are not masked, since masking them would change ordinary text too. */
const SHORTEST_SECRET = 4;
/** A secret shorter than this is masked only as a whole word. */
const SHORTEST_ANYWHERE = 8;
/** Longer values are truncated, which bounds the size of a line and the time to search it. */
const LONGEST_VALUE = 16_384;
const LONGEST_SECRET = 1024;
const DEEPEST = 5;
const LONGEST_LIST = 100;

/** A single test that rules out nearly every text before the patterns are tried one by one. */
const SUSPICIOUS = /hgr_|sk-|:\/\/|bearer|authoriz|api|passw|pwd|secret|token/i;

const API_KEY = /hgr_[\w-]{8,}/g;
const API_KEY_SIGN = 'hgr_';

/**
 * Patterns and their replacements. Every repetition in a pattern is bounded or cannot overlap with
 * what follows, so no text makes a pattern slow. A value that is already masked is unchanged.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [API_KEY, MASK],
  [/(?<![\w-])sk-[\w-]{8,}/g, MASK],
  // scheme://user:password@host; the password ends at the last @ before a space or quote.
  [/([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:@/"'<>]{0,128}):[^\s"'<>]{1,256}@/gi, `$1:${MASK}@`],
  [
    /\b((?:proxy-)?authorization|x-api-key)(\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)(?:(?:bearer|basic)\s{1,4})?(?:\[masked\]|[^\s"',;}\]\\]+)/gi,
    `$1$2${MASK}`,
  ],
  [/\b(bearer\s{1,4})[\w.~+/=-]{8,}/gi, `$1${MASK}`],
  // name=value and "name":"value", as in connection strings, query strings and JSON (also JSON
  // within a string).
  [
    /(password|passwd|pwd|secret|token|api[_-]?key)(=|\\?["']\s{0,4}[:=]\s{0,4}\\?)(["']?)(?:\[masked\]|(?<=")(?:[^"\\]|\\.)*|(?<=')[^']*|[^\s,;&"'}\]]+)/gi,
    `$1$2$3${MASK}`,
  ],
  [/(password|passwd|secret|api[_-]?key)(:\s{0,4})(\[masked\]|[^\s,;&"'}\]]+)/gi, `$1$2${MASK}`],
];

/** Names of fields whose text is a secret. */
const SECRET_NAME = /key|passw|pwd|secret|token|authorization|credential|cookie/i;
/** Names of fields that hold no secret although their names suggest it. */
const HARMLESS_NAMES: ReadonlySet<string> = new Set(['key_id', 'keyId', 'next_cursor', 'primary_key', 'token_type']);
/** Names of fields in which even a number is a secret. */
const SECRET_NUMBER_NAME = /passw|pwd|secret/i;

/**
 * Masks what looks like a secret: API keys, model keys, passwords in URLs, and secret values of
 * headers and parameters.
 */
export function maskPatterns(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  let masked = text;
  for (const [pattern, replacement] of PATTERNS) masked = masked.replace(pattern, replacement);
  return masked;
}

/** A known secret in one of the spellings in which it may appear. */
interface Needle {
  text: string;
  replacement: string;
  /** Set for short secrets: matches them as whole words only. */
  word: RegExp | undefined;
  /** True if `text` contains characters that JSON escapes, so it cannot occur in finished JSON. */
  raw: boolean;
}

/**
 * Masks secrets in texts and fields: the registered ones, and any part of a text that looks like a
 * secret.
 */
export class Redactor {
  #needles: Needle[] = [];

  /**
   * Masks `secret` wherever it occurs from now on. Returns false if it is too short or too common
   * to be masked.
   */
  registerSecret(secret: string): boolean {
    if (secret.length < SHORTEST_SECRET || secret === 'true' || secret === 'false' || secret === 'null') return false;
    for (const text of spellingsOf(secret)) {
      if (this.#needles.some((needle) => needle.text === text)) continue;
      this.#needles.push({
        text,
        // In JSON, a numeric secret may be a number or part of a number; after masking, it must
        // still be a number.
        replacement: /^\d+$/.test(text) ? '9' : MASK,
        word: text.length < SHORTEST_ANYWHERE ? new RegExp(`(?<![\\w-])${escaped(text)}(?![\\w-])`, 'g') : undefined,
        raw: text === secret && JSON.stringify(text).length !== text.length + 2,
      });
    }
    // Longest first: one secret may contain another.
    this.#needles.sort((a, b) => b.text.length - a.text.length);
    return true;
  }

  /** Masks a text that is not part of a line yet. */
  text(text: string): string {
    if (text.length <= LONGEST_VALUE) return maskPatterns(this.#maskKnown(text, false));
    // The text is masked before it is cut to its final length: otherwise the cut could remove the
    // part of a secret by which a pattern recognises it.
    const window = this.#maskKnown(text, false).slice(0, LONGEST_VALUE + LONGEST_SECRET);
    return `${maskPatterns(window).slice(0, LONGEST_VALUE)}... (${text.length} characters)`;
  }

  /**
   * Masks finished lines, many at once. Searches only for secrets that are cheap to find:
   * registered secrets and API keys. JSON stays valid JSON.
   */
  lines(text: string): string {
    const masked = this.#maskKnown(text, true);
    return masked.includes(API_KEY_SIGN) ? masked.replace(API_KEY, MASK) : masked;
  }

  /**
   * Returns a copy for use in a line: values become plain JSON, texts are masked, and a text in a
   * field whose name suggests a secret is replaced entirely.
   */
  fields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return this.#object(fields, 0);
  }

  #object(fields: object, depth: number): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) copy[this.text(name)] = this.#value(name, value, depth);
    }
    return copy;
  }

  #value(name: string, value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return isSecretName(name) && value !== '' ? MASK : this.text(value);
      case 'number':
      case 'bigint':
        if (SECRET_NUMBER_NAME.test(name)) return MASK;
        return typeof value === 'bigint' ? value.toString() : value;
      case 'boolean':
        return value;
      case 'object':
        return value === null ? null : this.#nested(name, value, depth);
      default:
        return undefined;
    }
  }

  #nested(name: string, value: object, depth: number): unknown {
    if (value instanceof Error) return this.text(value.stack ?? `${value.name}: ${value.message}`);
    if (value instanceof Date) return value.toJSON();
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `(${value.byteLength} bytes)`;
    if (depth >= DEEPEST) return '...';
    if (!Array.isArray(value)) return this.#object(value, depth + 1);
    const items = value.slice(0, LONGEST_LIST).map((item) => this.#value(name, item, depth + 1) ?? null);
    return value.length > LONGEST_LIST ? [...items, `... (${value.length} items)`] : items;
  }

  #maskKnown(text: string, isJson: boolean): string {
    let masked = text;
    for (const { text: needle, replacement, word, raw } of this.#needles) {
      if ((isJson && raw) || !masked.includes(needle)) continue;
      masked = word === undefined ? masked.replaceAll(needle, replacement) : masked.replace(word, replacement);
    }
    return masked;
  }
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !HARMLESS_NAMES.has(name);
}

/** Returns the secret unchanged, as escaped in JSON, and as encoded in a URL. */
function spellingsOf(secret: string): Set<string> {
  const address = encodeURIComponent(wellFormed(secret));
  return new Set([secret, JSON.stringify(secret).slice(1, -1), address]);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
