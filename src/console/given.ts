// What the address brought along, as `hedgerow demo` prints it: a key, a statement to begin with.
// It leaves the address before anything is shown.

export interface Given {
  readonly key: string;
  /** Run at once, so one that only reads: links come from anywhere. */
  readonly statement: string | undefined;
  readonly tab: 'rows' | 'graph';
}

/** `#key=...&statement=...&tab=graph`: the part after the hash is sent to no server. */
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

// When such an address is opened in a tab that shows the console, only the part after the hash
// changes: the page starts again with it.
addEventListener('hashchange', () => {
  const fields = new URLSearchParams(location.hash.slice(1));
  if (fields.has('key') || fields.has('statement')) location.reload();
});
