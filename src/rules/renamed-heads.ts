// Stored rules whose heads have become base predicates since: their predicate gets another name, in
// all stored rules, so that a database of an earlier version opens and its rules derive the same.

import { BASE_PREDICATES, isAboutNodes } from './base-predicates.ts';

type StoredEntry = readonly [id: string, value: unknown];

interface AtomJson {
  readonly pred: string;
  readonly args: readonly unknown[];
}

/**
 * Returns the entries with new names for predicates that rules derive and that are base predicates
 * now; undefined if there are none. A value that is not a rule is left as it is.
 */
export function withRenamedHeads(entries: readonly StoredEntry[]): readonly StoredEntry[] | undefined {
  const heads = entries.map(([, value]) => headOf(value)).filter((head) => head !== undefined && isTaken(head));
  if (heads.length === 0) return undefined;
  const used = new Set<string>();
  for (const [, value] of entries) eachAtom(value, ({ pred }) => used.add(pred));
  const names = new Map<string, string>();
  for (const { pred } of heads as AtomJson[]) {
    if (names.has(pred)) continue;
    let name = `derived_${pred}`;
    while (used.has(name)) name += '_';
    used.add(name);
    names.set(pred, name);
  }
  return entries.map(([id, value]) => [id, renamed(value, names)] as const);
}

function isTaken(head: AtomJson): boolean {
  return BASE_PREDICATES.has(head.pred) || isAboutNodes(head);
}

function headOf(value: unknown): AtomJson | undefined {
  const head = (value as { then?: unknown } | null)?.then;
  return isAtom(head) ? head : undefined;
}

function isAtom(value: unknown): value is AtomJson {
  const { pred, args } = (value ?? {}) as Record<string, unknown>;
  return typeof pred === 'string' && Array.isArray(args);
}

function eachAtom(value: unknown, take: (atom: AtomJson) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (isAtom(value)) take(value);
  for (const part of Object.values(value)) eachAtom(part, take);
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, renamed(part, names)]));
  const name = isAtom(value) && isTaken(value) ? names.get(value.pred) : undefined;
  return name === undefined ? copy : { ...copy, pred: name };
}
