// Reads tokens of JSON that are plain (json/edges.ts). Every text ends with a newline, and a
// newline is not part of any token, so a scan needs no other bound than the byte that it reads.

const MOST_DIGITS: u32 = 15;
export const QUOTE: u32 = 0x22;
export const MINUS: u32 = 0x2d;
const POINT: u32 = 0x2e;
export const ZERO: u32 = 0x30;
const BACKSLASH: u32 = 0x5c;

/** The number that was read last: its digits as an integer, and how many of them are decimals. */
export let digitsValue: i64 = 0;
export let decimals: u32 = 0;

export function byteAt(at: usize): u32 {
  return <u32>load<u8>(at);
}

export function skipSpaces(from: usize): usize {
  let at = from;
  while (byteAt(at) == 0x20 || byteAt(at) == 0x09) at++;
  return at;
}

/**
 * Reads a number without an exponent into `digitsValue` and `decimals`; returns the address after
 * it, or 0. Not read: leading zeros, a negative zero, and more than 15 digits.
 */
export function readNumber(from: usize): usize {
  let at = from;
  const negative = byteAt(at) == MINUS;
  if (negative) at++;
  const start = at;
  let value: i64 = 0;
  let digit = byteAt(at) - ZERO;
  while (digit < 10) {
    value = value * 10 + <i64>digit;
    at++;
    digit = byteAt(at) - ZERO;
  }
  let digits = <u32>(at - start);
  if (!digits || digits > MOST_DIGITS || (digits > 1 && byteAt(start) == ZERO)) return 0;
  decimals = 0;
  if (byteAt(at) == POINT) {
    const point = at;
    at++;
    digit = byteAt(at) - ZERO;
    while (digit < 10) {
      value = value * 10 + <i64>digit;
      at++;
      digit = byteAt(at) - ZERO;
    }
    decimals = <u32>(at - point - 1);
    digits += decimals;
    if (!decimals || digits > MOST_DIGITS) return 0;
  }
  // An exponent follows.
  if ((byteAt(at) | 0x20) == 0x65) return 0;
  if (negative && !value) return 0;
  digitsValue = negative ? -value : value;
  return at;
}

/** Returns the address of the quote that ends a text without escapes, or 0. */
export function textEnd(from: usize): usize {
  let at = from;
  if (ASC_FEATURE_SIMD) {
    // The host leaves 16 readable bytes after the text.
    while (true) {
      const bytes = v128.load(at);
      const stops = v128.or(
        v128.or(i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)), i8x16.eq(bytes, i8x16.splat(<i8>BACKSLASH))),
        i8x16.lt_u(bytes, i8x16.splat(0x20)),
      );
      const mask = i8x16.bitmask(stops);
      if (mask) {
        at += <usize>ctz(mask);
        break;
      }
      at += 16;
    }
  } else {
    while (byteAt(at) != QUOTE && byteAt(at) != BACKSLASH && byteAt(at) >= 0x20) at++;
  }
  return byteAt(at) == QUOTE ? at : 0;
}

/** Returns the address after a word of four or five letters, or 0. */
export function wordEnd(at: usize): usize {
  const four = load<u32>(at);
  if (four == 0x65757274 || four == 0x6c6c756e) return at + 4;
  return four == 0x736c6166 && byteAt(at + 4) == 0x65 ? at + 5 : 0;
}
