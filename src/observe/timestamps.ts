// Formats the times of log lines (ISO 8601, UTC), each millisecond only once.

/** Returns a function that returns the current time as text. */
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
