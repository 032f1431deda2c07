// Finds tables by name.

/** Finds a table by its name without regard to case, as the service does. */
export function named<T extends { readonly name: string }>(list: readonly T[], name: string): T | undefined {
  return list.find((item) => item.name.toLowerCase() === name.toLowerCase());
}
