// Reads the most common kind of cell, one that consists of a few digits, without a regular
// expression.

const ZERO = 48;

/** Returns the number that the digits form; -1 for any other text and for more than 15 digits. */
export function plainInteger(text: string): number {
  const { length } = text;
  if (length === 0 || length > 15) return -1;
  let value = 0;
  for (let i = 0; i < length; i++) {
    const digit = text.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
