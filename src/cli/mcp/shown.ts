// Formats rows for a model: adds times in ISO 8601 to seconds, and names of nodes to their numbers.

/** A row with fields by name. */
export type Shown = Record<string, unknown>;

/**
 * Formats epoch seconds as UTC; null for other values and for numbers outside the range of dates.
 */
export function timeText(seconds: unknown): string | null {
  const date = new Date(typeof seconds === 'number' ? seconds * 1000 : Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace('.000Z', 'Z');
}

/**
 * Returns an edge with `time` after `event_ts`. Adds `names` after `members` when at least one
 * member has a name; members without one get null.
 */
export function shownEdge(edge: object, names: ReadonlyMap<number, string>): Shown {
  const shown: Shown = {};
  for (const [field, value] of Object.entries(edge)) {
    shown[field] = value;
    if (field === 'event_ts' && !('time' in edge)) shown.time = timeText(value);
    if (field !== 'members' || 'names' in edge || !Array.isArray(value)) continue;
    if (value.some((node) => names.has(node))) shown.names = value.map((node) => names.get(node) ?? null);
  }
  return shown;
}

export function membersOf(edges: readonly object[]): number[] {
  return edges.flatMap((edge) => ('members' in edge && Array.isArray(edge.members) ? (edge.members as number[]) : []));
}

/** Returns the names as a JSON object, with the numbers as keys in ascending order. */
export function namesObject(names: ReadonlyMap<number, string>): Record<string, string> {
  return Object.fromEntries([...names].sort(([a], [b]) => a - b));
}
