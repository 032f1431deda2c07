// Members of a named table as callers give them: keys of nodes. This file checks them; the engine
// finds or creates the nodes.

import { kindOf } from './fields.ts';
import type { MemberForm } from './roles.ts';
import { isWellFormed } from './text.ts';

/** Maximum size of a key in bytes of UTF-8. */
export const MOST_KEY_BYTES = 512;

/** The key of a node as values of programs and JSON: a text, or a safe integer. */
export type NodeKey = string | number;

/** A kind of nodes that may be members of a table. */
export interface MemberKind {
  /** Name of the node table. */
  readonly name: string;
  /** Whether its keys are integers and not texts. */
  readonly isInteger: boolean;
}

/** A node by its key; `kind` is the index in the list of kinds of the table. */
export interface NodeRef {
  readonly kind: number;
  readonly key: NodeKey;
}

/** A member with its kind, as callers give it and as answers show it. */
export interface KindAndKey {
  readonly kind: string;
  readonly key: NodeKey;
}

// Every UTF-16 unit takes at most three bytes of UTF-8.
const BYTES_PER_UNIT = 3;
const ENCODER = new TextEncoder();
const CONTROL = /\p{Cc}/u;

/**
 * Returns what is wrong with a key, as a phrase that follows its name, or undefined. Keys are
 * compared by code point: texts that differ by case or by Unicode form are different keys.
 */
export function keyProblem(key: unknown, { name, isInteger }: MemberKind): string | undefined {
  if (isInteger) {
    if (Number.isSafeInteger(key)) return undefined;
    return `must be an integer between -(2^53-1) and 2^53-1, because the keys of ${name} are integers`;
  }
  if (typeof key !== 'string') return `must be a text, because the keys of ${name} are texts, not ${kindOf(key)}`;
  if (key === '') return 'must not be an empty text';
  if (!isWellFormed(key)) return 'is not valid text: it contains half of a surrogate pair';
  if (CONTROL.test(key)) return 'contains a control character';
  if (key.length * BYTES_PER_UNIT > MOST_KEY_BYTES && ENCODER.encode(key).length > MOST_KEY_BYTES)
    return `has more than ${MOST_KEY_BYTES} bytes of UTF-8`;
  return undefined;
}

/**
 * Reads one member: a bare key if the table has one kind, or an object with `kind` and `key`.
 * Returns the reference, or what is wrong as a phrase that follows the member's name.
 */
export function readRef(given: unknown, kinds: readonly MemberKind[]): NodeRef | string {
  if (typeof given !== 'object' || given === null) {
    if (kinds.length > 1 && (typeof given === 'string' || typeof given === 'number'))
      return `must be an object with kind and key, because members are of several kinds: ${namesOf(kinds)}`;
    const problem = keyProblem(given, kinds[0]!);
    return problem ?? { kind: 0, key: plainKey(given as NodeKey) };
  }
  if (Array.isArray(given)) return 'must be a key, not an array';
  const { kind: name, key = (given as { node?: unknown }).node } = given as { kind?: unknown; key?: unknown };
  const kind = name === undefined && kinds.length === 1 ? 0 : kindIndex(name, kinds);
  if (kind < 0) return `has the kind ${JSON.stringify(name) ?? 'undefined'}; it must be one of ${namesOf(kinds)}`;
  if (key === undefined) return 'is an object without key';
  const problem = keyProblem(key, kinds[kind]!);
  return problem === undefined ? { kind, key: plainKey(key as NodeKey) } : `has a key that ${problem}`;
}

/** Returns the index of a kind by its name in any case, or -1. */
export function kindIndex(name: unknown, kinds: readonly MemberKind[]): number {
  if (typeof name !== 'string') return -1;
  const lower = name.toLowerCase();
  return kinds.findIndex((kind) => kind.name.toLowerCase() === lower);
}

/** Returns how the members of a named table are given (roles.ts). */
export function formOfRefs(kinds: readonly MemberKind[]): MemberForm<NodeRef> {
  return {
    items: 'keys',
    item: 'node',
    read: (value) => readRef(value, kinds),
    idOf: refText,
    valueOf: ({ role: _, ...item }) => ({ value: item, path: [] }),
    inOrder: () => 0,
  };
}

/** Returns a text that is equal for equal references only. */
function refText({ kind, key }: NodeRef): string {
  return `${kind}:${key}`;
}

function namesOf(kinds: readonly MemberKind[]): string {
  return kinds.map(({ name }) => name).join(', ');
}

/** -0 becomes 0. */
function plainKey(key: NodeKey): NodeKey {
  return key === 0 ? 0 : key;
}
