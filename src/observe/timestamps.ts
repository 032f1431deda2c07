// ISO 8601 times in UTC for lines: each millisecond is formatted once.

/** Returns a function that gives the current time as text. */
export function timestamps(now: () => Date): () => string {
  let lastMs = Number.NaN;
  let text = '';
  return () => {
    const date = now();
    const ms = date.getTime();
    if (ms !== lastMs) {
      lastMs = ms;
      text = date.toISOString();
    }
    return text;
  };
}
