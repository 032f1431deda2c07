// Shortens parts of a statement, which may be very long, for error messages.

const MOST_CHARACTERS = 60;
const MOST_NAMES = 30;

/** Returns a text, cut if it is long, but never inside a surrogate pair. */
export function shown(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  const last = text.charCodeAt(MOST_CHARACTERS - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, isHalf ? MOST_CHARACTERS - 1 : MOST_CHARACTERS)}...`;
}

/** Returns a name in quotes. */
export function shownName(name: string): string {
  return JSON.stringify(shown(name));
}

/** Returns names separated by commas; if there are many, only the first ones. */
export function shownNames(names: readonly string[]): string {
  const some = names.slice(0, MOST_NAMES).map(shown).join(', ');
  return names.length > MOST_NAMES ? `${some} and ${names.length - MOST_NAMES} others` : some;
}
