// Writes numbers as JSON text, identical to JavaScript's.
//
// The shortest text of an f64 is found by Schubfach (Giulietti, "The Schubfach way to render
// doubles", 2020). A double c * 2^q has a rounding interval: all real numbers in it are read back
// as this double. Let k be the greatest exponent for which 10^k is not above the width of the
// interval. The interval then contains at least one multiple of 10^k, and at most one multiple of
// 10^(k + 1). If it contains a multiple of 10^(k + 1), which is one digit shorter, that is the
// result. Otherwise the result is the nearest multiple of 10^k in the interval.
//
// To compare exactly, the value and both ends of the interval are multiplied by 10^-k in fixed
// point with two fractional bits. 10^-k is approximated with 128 bits. Rounding the products to odd
// keeps all comparisons exact.
//
// Example: the least double, 2^-1074 = 4.94...e-324, has the interval from 2.47...e-324 to
// 7.41...e-324. No multiple of 10^-323 is in it. The nearest multiple of 10^-324 gives 5e-324.

/** Maximum number of bytes that `writeInt` writes for any i64. */
export const MAX_INT_TEXT: u32 = 20;
/** Maximum number of bytes that `writeFloat` writes for any f64. */
export const MAX_FLOAT_TEXT: u32 = 25;

/** ASCII '0' in every byte. */
const ZEROS: u64 = 0x3030303030303030;
const EXPONENT_MASK: u64 = 0x7ff;
const FRACTION_MASK: u64 = 0xfffffffffffff;
const HIDDEN_BIT: u64 = 0x10000000000000;
/** Least exponent in the table, which covers 10^-292 to 10^324. */
const FIRST_POWER: i32 = -292;
/**
 * floor(10^e * 2^(127 - floor(log2(10^e)))) + 1 for each exponent e, the low u64 first. Entries are
 * computed when first needed.
 */
const POWERS: usize = memory.data(617 * 16, 16);
/**
 * Every 27th power of ten, as 192 bits rounded up, the lowest u64 first. This is precise enough for
 * every entry of POWERS (checked with BigInt).
 */
const BASES: usize = memory.data<u64>([
  0xdf9b302944a88415,
  0x25e8e89c13bb0f7a,
  0xff77b1fcbebcdc4f, // 10^-292
  0xb839ca17a14a01cb,
  0xfb0a3d212dc8128f,
  0xce5d73ff402d98e3, // 10^-265
  0xd7bde82603302c06,
  0xf42faa48c0ea481e,
  0xa6b34ad8c9dfc06f, // 10^-238
  0x02c85d6b781b02d4,
  0xae5dff9c02033197,
  0x86a8d39ef77164bc, // 10^-211
  0x2dbb637d5b77493e,
  0x3badd624dd9b0957,
  0xd98ddaee19068c76, // 10^-184
  0x88865218f5493e65,
  0xe5d1929ef90898fa,
  0xafbd2350644eeacf, // 10^-157
  0xd897747ed9d851e8,
  0xca8d3ffa1ef463c1,
  0x8df5efabc5979c8f, // 10^-130
  0xc2f41cf139d59e10,
  0xcc420a6a101d0515,
  0xe55990879ddcaabd, // 10^-103
  0xbf953486d9966118,
  0xf808e40e8d5b3e69,
  0xb94470938fa89bce, // 10^-76
  0x2eb5b82ea93e5f5d,
  0xdde7001379a44aa8,
  0x95a8637627989aad, // 10^-49
  0x70cb148213caa7e5,
  0x5324c68b12dd6338,
  0xf1c90080baf72cb1, // 10^-22
  0x0000000000000000,
  0x0000000000000000,
  0xc350000000000000, // 10^5
  0x0000000000000000,
  0xf020000000000000,
  0x9dc5ada82b70b59d, // 10^32
  0x8e80000000000000,
  0x02f236d04753d5b4,
  0xfee50b7025c36a08, // 10^59
  0xad18db241667cf42,
  0xed4c0226b55e6f86,
  0xcde6fd5e09abcf26, // 10^86
  0x91d1eac1fe9754be,
  0x84db8346b786151c,
  0xa6539930bf6bff45, // 10^113
  0x5c6658d409fb8bf8,
  0x0b8a2392ba45a9b2,
  0x865b86925b9bc5c2, // 10^140
  0xc4e8e60f9cf29c85,
  0x1b2ba1518094da04,
  0xd910f7ff28069da4, // 10^167
  0x03c5b3eebd70b863,
  0x387ac8d1970027b2,
  0xaf58416654a6babb, // 10^194
  0xac195df9a79706b7,
  0x5ceaecfed289e5d2,
  0x8da471a9de737e24, // 10^221
  0x611fe6a4368498ba,
  0x0fabaf3feaa5334a,
  0xe4d5e82392a40515, // 10^248
  0xfcc1493dcb1551e0,
  0x3d6a751f3b936243,
  0xb8da1662e7b00a17, // 10^275
  0x985032667e54efd4,
  0x0f37801e0c43ebc8,
  0x95527a5202df0ccb, // 10^302
]);

/**
 * Writes an integer in decimal; returns the pointer after the last byte. `out`: MAX_INT_TEXT bytes,
 * all of which may be overwritten. Cost: a few multiplications and divisions by constants per eight
 * digits (SWAR); no table and no loop.
 */
export function writeInt(out: usize, value: i64): usize {
  if (value < 0) {
    store<u8>(out, 0x2d);
    return writeDigits(out + 1, <u64>(0 - value));
  }
  return writeDigits(out, <u64>value);
}

/**
 * Writes the same text as `JSON.stringify(value)`: the shortest text that reads back as the same
 * f64, or the nearest to the value if several texts are equally short. Writes `null` for NaN and
 * the infinities, `0` for -0. Returns the pointer after the last byte. `out`: MAX_FLOAT_TEXT bytes,
 * all of which may be overwritten.
 *
 * Cost: one division for values with few decimals (prices, milliseconds); otherwise three 128 x
 * 64-bit products. Notation: ECMA-262, Number::toString.
 */
export function writeFloat(out: usize, value: f64): usize {
  const bits = reinterpret<u64>(value);
  if (((bits >> 52) & EXPONENT_MASK) == EXPONENT_MASK) {
    store<u32>(out, 0x6c6c756e); // null
    return out + 4;
  }
  if (value == 0) {
    store<u8>(out, 0x30);
    return out + 1;
  }
  if (value < 0) {
    store<u8>(out, 0x2d);
    out++;
    value = -value;
  }
  // Whole numbers up to 2^53 are written exactly. For the others: two different decimal numbers of
  // up to 15 digits are never the same double, so a text of at most 15 digits that reads back as
  // the value is the shortest one once its trailing zeros are removed.
  if (value <= 9007199254740992 && value >= 1e-6) {
    const whole = <i64>value; // signed: the conversion is one instruction, from u64 it takes several
    if (<f64>whole == value) return writeDigits(out, whole);
    if (value < 1e6) {
      const scaled = <i64>(value * 1e9 + 0.5);
      if (<f64>scaled / 1e9 == value) return writeFixed(out, <u64>scaled / 1000000000, <u32>(<u64>scaled % 1000000000));
    } else if (value < 1e11) {
      const scaled = <i64>(value * 1e4 + 0.5);
      if (<f64>scaled / 1e4 == value) return writeFixed(out, <u64>scaled / 10000, <u32>(<u64>scaled % 10000) * 100000);
    }
  }
  return writeShortest(out, bits & ~((<u64>1) << 63));
}

/**
 * Returns the eight digits of `value` (below 10^8) as bytes 0 to 9, the first digit in the lowest
 * byte.
 */
function eightDigits(value: u32): u64 {
  const high = value / 10000;
  const fours = <u64>high | ((<u64>(value - high * 10000)) << 32);
  const hundreds = ((fours * 5243) >> 19) & 0x0000007f0000007f;
  const twos = hundreds + ((fours - hundreds * 100) << 16);
  const tens = ((twos * 103) >> 10) & 0x000f000f000f000f;
  return tens + ((twos - tens * 10) << 8);
}

/**
 * Writes an unsigned integer. May overwrite 8 bytes even if the first group of digits is shorter.
 */
function writeDigits(out: usize, value: u64): usize {
  if (value < 100000000) return writeFirst(out, <u32>value);
  const upper = value / 100000000;
  const lower = <u32>(value - upper * 100000000);
  if (upper < 100000000) out = writeFirst(out, <u32>upper);
  else {
    const top = upper / 100000000;
    out = writeFirst(out, <u32>top);
    store<u64>(out, eightDigits(<u32>(upper - top * 100000000)) | ZEROS);
    out += 8;
  }
  store<u64>(out, eightDigits(lower) | ZEROS);
  return out + 8;
}

/** Writes a value below 10^8 without leading zeros. */
function writeFirst(out: usize, value: u32): usize {
  if (value < 10) {
    store<u8>(out, value + 0x30);
    return out + 1;
  }
  const digits = eightDigits(value);
  const leading = ctz(digits) >> 3;
  store<u64>(out, (digits | ZEROS) >> (leading << 3));
  return out + <usize>(8 - leading);
}

/** Writes `whole`, a point and the nine digits of `nano` (not 0) without trailing zeros. */
function writeFixed(out: usize, whole: u64, nano: u32): usize {
  out = writeDigits(out, whole);
  const first = nano / 100000000;
  store<u16>(out, 0x302e + (first << 8)); // the point and a digit
  out += 2;
  const rest = nano - first * 100000000;
  if (rest == 0) return out;
  const digits = eightDigits(rest);
  store<u64>(out, digits | ZEROS);
  return out + 8 - <usize>(clz(digits) >> 3);
}

/** Writes the shortest digits of a positive finite f64, given as bits. */
function writeShortest(out: usize, bits: u64): usize {
  const biased = <i32>(bits >> 52);
  const fraction = bits & FRACTION_MASK;
  const exponent = max(biased, 1) - 1075;
  const significand = biased == 0 ? fraction : fraction | HIDDEN_BIT;
  const narrow = fraction == 0 && biased > 1; // the gap below is half the gap above
  let k = (exponent * 1262611 - (narrow ? 524031 : 0)) >> 22;
  const shift = <u64>(exponent + log2OfPower10(-k) + 1);
  const entry = power10(-k);
  const low = load<u64>(entry);
  const high = load<u64>(entry, 8);
  const center = significand << 2;
  const even = (significand & 1) ^ 1;
  const floor = roundToOdd(low, high, (center - 2 + u64(narrow)) << shift) + (even ^ 1);
  const middle = roundToOdd(low, high, center << shift);
  const ceiling = roundToOdd(low, high, (center + 2) << shift) - (even ^ 1);
  let digits = middle >> 2;
  if (digits >= 10) {
    const tenth = digits / 10;
    const below = floor <= tenth * 40;
    const above = tenth * 40 + 40 <= ceiling;
    if (below != above) return writeDecimal(out, tenth + u64(above), k + 1);
  }
  const below = floor <= digits << 2;
  const above = (digits << 2) + 4 <= ceiling;
  if (below != above) return writeDecimal(out, digits + u64(above), k);
  const half = (digits << 2) + 2;
  digits += u64(middle > half || (middle == half && (digits & 1) != 0));
  return writeDecimal(out, digits, k);
}

/** Returns floor(log2(10^exponent)) for exponents of f64. */
function log2OfPower10(exponent: i32): i32 {
  return (exponent * 1741647) >> 19;
}

/**
 * Returns bits 128 and up of (high:low) * value, with the lowest bit set if the number in bits 64
 * to 127 is greater than 1. That number can be 1 even for an exact product, because the power is
 * rounded up.
 */
function roundToOdd(low: u64, high: u64, value: u64): u64 {
  const carried = high * value + multiplyHigh(low, value);
  const top = multiplyHigh(high, value) + u64(carried < high * value);
  return top | u64(carried > 1);
}

/** Returns the high 64 bits of a 128-bit product. */
function multiplyHigh(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const cross = aHigh * bLow + ((aLow * bLow) >> 32);
  const other = aLow * bHigh + (cross & 0xffffffff);
  return aHigh * bHigh + (cross >> 32) + (other >> 32);
}

/**
 * Writes digits * 10^exponent in JavaScript's notation. `digits`: 1 to 17 decimal digits, trailing
 * zeros allowed.
 */
function writeDecimal(out: usize, digits: u64, exponent: i32): usize {
  while (digits % 10 == 0) {
    digits /= 10;
    exponent++;
  }
  const count = digitCount(digits);
  const point = count + exponent; // the value is 0.ddd * 10^point
  if (exponent >= 0 && point <= 21) {
    out = writeDigits(out, digits);
    for (let zero = 0; zero < exponent; zero++) store<u8>(out + zero, 0x30);
    return out + exponent;
  }
  if (point > 0 && point <= 21) return writeSplit(out, digits, point);
  if (point > -6 && point <= 0) {
    store<u16>(out, 0x2e30); // 0.
    out += 2;
    for (let zero = point; zero < 0; zero++, out++) store<u8>(out, 0x30);
    return writeDigits(out, digits);
  }
  out = count == 1 ? writeDigits(out, digits) : writeSplit(out, digits, 1);
  const sign: u32 = point > 0 ? 0x2b : 0x2d;
  store<u16>(out, 0x65 | (sign << 8));
  const power = point - 1;
  return writeDigitsExact(out + 2, power < 0 ? -power : power);
}

/** Writes `digits` with a point after the first `before` digits. */
function writeSplit(out: usize, digits: u64, before: i32): usize {
  const end = writeDigits(out + 1, digits);
  for (let at = 0; at < before; at++) store<u8>(out + at, load<u8>(out + at, 1));
  store<u8>(out + before, 0x2e);
  return end;
}

/** Writes an exponent of 1 to 3 digits, and overwrites no byte after it. */
function writeDigitsExact(out: usize, value: u32): usize {
  if (value >= 100) {
    store<u8>(out, 0x30 + value / 100);
    out++;
  }
  if (value >= 10) {
    store<u8>(out, 0x30 + ((value / 10) % 10));
    out++;
  }
  store<u8>(out, 0x30 + (value % 10));
  return out + 1;
}

/** Returns the number of decimal digits of a value that has 1 to 17 digits. */
function digitCount(value: u64): i32 {
  let count = 1;
  if (value >= 10000000000000000) return 17;
  if (value >= 100000000) {
    value /= 100000000;
    count += 8;
  }
  let rest = <u32>value;
  if (rest >= 10000) {
    rest /= 10000;
    count += 4;
  }
  return count + i32(rest >= 10) + i32(rest >= 100) + i32(rest >= 1000);
}

/** Returns the address of the table entry for 10^exponent. */
function power10(exponent: i32): usize {
  const entry = POWERS + ((exponent - FIRST_POWER) << 4);
  if (load<u64>(entry, 8) == 0) fillPower(entry, exponent);
  return entry;
}

/**
 * Computes an entry from the next lower base: multiplies it by 5^offset, a 192 x 64-bit product,
 * and shifts the product back to 128 bits.
 */
function fillPower(entry: usize, exponent: i32): void {
  const index = (exponent - FIRST_POWER) / 27;
  const baseExponent = FIRST_POWER + index * 27;
  const offset = exponent - baseExponent;
  const base = BASES + index * 24;
  let factor: u64 = 1;
  for (let power = 0; power < offset; power++) factor *= 5;
  const shift = <u64>(log2OfPower10(exponent) - log2OfPower10(baseExponent) - offset);
  const second = load<u64>(base, 8) * factor;
  const third = load<u64>(base, 16) * factor;
  const low = second + multiplyHigh(load<u64>(base), factor);
  const secondHigh = multiplyHigh(load<u64>(base, 8), factor) + u64(low < second);
  const middle = third + secondHigh;
  const high = multiplyHigh(load<u64>(base, 16), factor) + u64(middle < third);
  // Shifts left by 64 - shift in two steps, because shift is 0 for a base itself, and WebAssembly
  // treats a shift by 64 as a shift by 0.
  const back = 63 - shift;
  const entryLow = ((low >> shift) | ((middle << 1) << back)) + 1;
  store<u64>(entry, entryLow);
  store<u64>(entry, ((middle >> shift) | ((high << 1) << back)) + u64(entryLow == 0), 8);
}
