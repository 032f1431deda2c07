// Texts that are being written, kept over reloads of the page; gone with the tab or the sign-out,
// since they may hold data.

/** What each is of. */
export type DraftName = 'statement' | 'parameters' | 'rule' | 'question';

const keyOf = (name: DraftName): string => `hedgerow.draft.${name}`;

/** Empty when there is none. */
export function storedDraft(name: DraftName): string {
  return sessionStorage.getItem(keyOf(name)) ?? '';
}

/** An empty one is taken away. */
export function storeDraft(name: DraftName, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(keyOf(name));
    else sessionStorage.setItem(keyOf(name), text);
  } catch {
    // No room left in the tab's storage: an older draft would be the wrong one.
    sessionStorage.removeItem(keyOf(name));
  }
}
