// Keeps unfinished texts across reloads of the page. They are deleted when the tab is closed or the
// user signs out, because they may contain data.

/** What a draft is for. */
export type DraftName = 'statement' | 'parameters' | 'rule' | 'question';

const keyOf = (name: DraftName): string => `hedgerow.draft.${name}`;

/** Returns the draft; empty when there is none. */
export function storedDraft(name: DraftName): string {
  return sessionStorage.getItem(keyOf(name)) ?? '';
}

/** Stores the draft; an empty one is removed. */
export function storeDraft(name: DraftName, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(keyOf(name));
    else sessionStorage.setItem(keyOf(name), text);
  } catch {
    // The tab's storage is full. The older draft is removed, because it would be out of date.
    sessionStorage.removeItem(keyOf(name));
  }
}
