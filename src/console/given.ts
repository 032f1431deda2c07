// Reads a key and a first statement from the address, which `hedgerow demo` prints. Both are
// removed from the address before anything is shown.

export interface Given {
  readonly key: string;
  /**
   * Undefined if it does not begin with MATCH. Runs without a click only if it changes nothing,
   * since anyone can write such a link.
   */
  readonly statement: string | undefined;
  readonly tab: 'rows' | 'graph';
}

/** Parses `#key=...&statement=...&tab=graph`. The part after the hash is sent to no server. */
function takeFromAddress(): Given {
  const fields = new URLSearchParams(location.hash.slice(1));
  const key = fields.get('key') ?? '';
  const statement = fields.get('statement') ?? '';
  if (fields.has('key') || fields.has('statement')) history.replaceState(null, '', location.pathname + location.search);
  return {
    key,
    statement: /^\s*MATCH\b/i.test(statement) ? statement : undefined,
    tab: fields.get('tab') === 'graph' ? 'graph' : 'rows',
  };
}

export const given: Given = takeFromAddress();

// When such an address is opened in a tab that already shows the console, only the part after the
// hash changes, so the page must be reloaded.
addEventListener('hashchange', () => {
  const fields = new URLSearchParams(location.hash.slice(1));
  if (fields.has('key') || fields.has('statement')) location.reload();
});
