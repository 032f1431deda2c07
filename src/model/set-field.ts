// Sets a field of an object under a name that users chose.

/**
 * Sets a field as JSON.parse does: `__proto__` is an ordinary field. A plain assignment would set
 * the prototype.
 */
export function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}
