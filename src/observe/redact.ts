// Keeps secrets out of what the service writes: masks what looks like one, and the very texts it was told are one.

import { wellFormed } from '../model/text.ts';

/** Written in place of a secret. */
export const MASK = '[masked]';

/** Secrets shorter than this are not looked for: masking them would hit everything. */
const SHORTEST_SECRET = 4;
/** A secret shorter than this is masked only where it is a word of its own. */
const SHORTEST_ANYWHERE = 8;
/** A longer value is cut before it is looked through: what goes into a line stays bounded, in size and in time. */
const LONGEST_VALUE = 16_384;
const LONGEST_SECRET = 1024;
const DEEPEST = 5;
const LONGEST_LIST = 100;

/** One look that finds nothing in nearly every text, before the patterns are tried one by one. */
const SUSPICIOUS = /hgr_|sk-|:\/\/|bearer|authoriz|api|passw|pwd|secret|token/i;

const API_KEY = /hgr_[\w-]{8,}/g;
const API_KEY_SIGN = 'hgr_';

/** Every repetition is bounded or cannot overlap with what follows: no text makes one slow. A value masked already stays as it is. */
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
  // name=value and "name":"value", as in connection strings, query strings and JSON (also JSON inside a text).
  [
    /(password|passwd|pwd|secret|token|api[_-]?key)(=|\\?["']\s{0,4}[:=]\s{0,4}\\?)(["']?)(?:\[masked\]|(?<=")(?:[^"\\]|\\.)*|(?<=')[^']*|[^\s,;&"'}\]]+)/gi,
    `$1$2$3${MASK}`,
  ],
  [/(password|passwd|secret|api[_-]?key)(:\s{0,4})(\[masked\]|[^\s,;&"'}\]]+)/gi, `$1$2${MASK}`],
];

/** Names of fields whose text is a secret. */
const SECRET_NAME = /key|passw|pwd|secret|token|authorization|credential|cookie/i;
/** Names that say "key" or "token" and hold none. */
const HARMLESS_NAMES: ReadonlySet<string> = new Set(['key_id', 'keyId', 'next_cursor', 'primary_key', 'token_type']);
/** Under these names even a number is a secret. */
const SECRET_NUMBER_NAME = /passw|pwd|secret/i;

/** Masks what looks like a secret: API keys, model keys, passwords in addresses, values of headers and parameters that carry one. */
export function maskPatterns(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  let masked = text;
  for (const [pattern, replacement] of PATTERNS) masked = masked.replace(pattern, replacement);
  return masked;
}

/** A known secret in one of the spellings it may turn up in. */
interface Needle {
  text: string;
  replacement: string;
  /** Set for short secrets: found as a word only. */
  word: RegExp | undefined;
  /** Has characters that JSON escapes, so it cannot occur in finished JSON in this form. */
  raw: boolean;
}

/** Masks texts and fields; knows the secrets of this process. */
export class Redactor {
  #needles: Needle[] = [];

  /** From now on `secret` is masked wherever it occurs. False: too short to be looked for. */
  registerSecret(secret: string): boolean {
    if (secret.length < SHORTEST_SECRET || secret === 'true' || secret === 'false' || secret === 'null') return false;
    for (const text of spellingsOf(secret)) {
      if (this.#needles.some((needle) => needle.text === text)) continue;
      this.#needles.push({
        text,
        // Digits can occur bare in JSON, next to other digits too: the replacement must leave a number.
        replacement: /^\d+$/.test(text) ? '9' : MASK,
        word: text.length < SHORTEST_ANYWHERE ? new RegExp(`(?<![\\w-])${escaped(text)}(?![\\w-])`, 'g') : undefined,
        raw: text === secret && JSON.stringify(text).length !== text.length + 2,
      });
    }
    // The longest first: one secret may hold another.
    this.#needles.sort((a, b) => b.text.length - a.text.length);
    return true;
  }

  /** A text that is not yet part of a line. */
  text(text: string): string {
    if (text.length <= LONGEST_VALUE) return maskPatterns(this.#maskKnown(text, false));
    // Masked before it is cut: the cut must not hide the end of a secret from the patterns.
    const window = this.#maskKnown(text, false).slice(0, LONGEST_VALUE + LONGEST_SECRET);
    return `${maskPatterns(window).slice(0, LONGEST_VALUE)}... (${text.length} characters)`;
  }

  /** Finished lines, many at once. Only what is cheap to find is looked for: known secrets and API keys. JSON stays JSON. */
  lines(text: string): string {
    const masked = this.#maskKnown(text, true);
    return masked.includes(API_KEY_SIGN) ? masked.replace(API_KEY, MASK) : masked;
  }

  /** A copy fit for a line: plain JSON values, texts masked, fields with a telling name masked whole. */
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

/** As it is, as JSON writes it, as an address writes it. */
function spellingsOf(secret: string): Set<string> {
  const address = encodeURIComponent(wellFormed(secret));
  return new Set([secret, JSON.stringify(secret).slice(1, -1), address]);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
