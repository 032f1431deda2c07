// Caches parsed statements by their texts. For each text it also caches bound forms, by the types
// of the parameters and the version of the catalog.
//
// A text is admitted when it occurs for the second time. Texts that occurred once are only
// remembered, so that a flood of one-off statements evicts nothing. Entries are evicted in LRU
// order. When the catalog changes, all bound forms are dropped; the parsed statements stay.

import type { BoundDelete, BoundInsert, BoundUpdate } from './binder/bound.ts';
import { type ParameterType, type ParameterValues, parameterType } from './binder/parameters.ts';
import type { MatchShape } from './planner/shape.ts';
import { type Prepared, prepareText } from './prepare.ts';

/** Limits of the cache. The least recently used entry is evicted first. */
export interface CacheLimits {
  readonly statements: number;
  /** Approximate size in bytes of all syntax trees and bound forms. */
  readonly bytes: number;
}

const LIMITS: CacheLimits = { statements: 1000, bytes: 32 * 2 ** 20 };
/** Longest text that is cached, in characters. */
const LONGEST_KEPT = 4096;
/**
 * Estimated size in bytes of a syntax tree or a bound form, per character of the statement. The
 * estimate assumes that a token has at least two characters.
 */
const BYTES_OF_CHARACTER = 100;
/**
 * Estimated size in bytes of one result column in a bound form. Columns are counted separately
 * because `RETURN *` is short and may have a thousand columns.
 */
const BYTES_OF_COLUMN = 400;
/**
 * Maximum number of bound forms that are cached for a text, one for each combination of parameter
 * types.
 */
const MOST_VARIANTS = 4;

/**
 * The bound form of a statement. All runs of the statement share it, so it must not be modified.
 */
export type Bound = MatchShape | BoundInsert | BoundUpdate | BoundDelete;

interface Variant {
  readonly types: readonly ParameterType[];
  readonly bound: Bound;
  readonly bytes: number;
}

interface Kept {
  readonly prepared: Prepared;
  variants: readonly Variant[];
}

export class StatementCache {
  readonly #limits: CacheLimits;
  /** Texts seen once, which are not cached yet. */
  readonly #seen = new Set<string>();
  /** Cached texts, least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #newest: Kept | undefined;
  readonly #ahead = new WeakMap<
    Prepared,
    { readonly parameters: ParameterValues; readonly catalogVersion: number; readonly bound: Bound }
  >();
  #bytes = 0;
  /** Version of the catalog that all bound forms belong to. */
  #catalogVersion = 0;

  constructor(limits: CacheLimits = LIMITS) {
    this.#limits = limits;
  }

  get statements(): number {
    return this.#kept.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Parses a statement, or returns it from the cache. Throws `syntax_error`. */
  prepare(text: string): Prepared {
    const known = this.#kept.get(text);
    if (known !== undefined) {
      if (known !== this.#newest) this.#renew(known);
      return known.prepared;
    }
    const prepared = prepareText(text);
    if (text.length > LONGEST_KEPT) return prepared;
    if (this.#seen.delete(text)) {
      this.#renew({ prepared, variants: [] });
      this.#add(treeBytes(prepared));
    } else {
      this.#seen.add(text);
      if (this.#seen.size > this.#limits.statements) this.#seen.delete(this.#seen.keys().next().value!);
    }
    return prepared;
  }

  /**
   * Returns the bound form for these parameter types and this version of the catalog: the cached
   * one, or the one that `bind` makes. Throws what `bind` throws.
   */
  bound<T extends Bound>(prepared: Prepared, parameters: ParameterValues, catalogVersion: number, bind: () => T): T {
    if (catalogVersion !== this.#catalogVersion) this.#forgetBound(catalogVersion);
    const ahead = this.#ahead.get(prepared);
    if (ahead !== undefined && ahead.parameters === parameters) {
      this.#ahead.delete(prepared);
      if (ahead.catalogVersion === catalogVersion) return ahead.bound as T;
    }
    const kept = this.#kept.get(prepared.text);
    const types = kept && typesOf(prepared.parameters, parameters);
    if (kept === undefined || types === undefined) return bind();
    for (const variant of kept.variants) if (areEqual(variant.types, types)) return variant.bound as T;
    const bound = bind();
    const columns = 'columns' in bound ? bound.columns.length : 0;
    const bytes = treeBytes(prepared) + columns * BYTES_OF_COLUMN;
    this.#keep(kept, { types, bound, bytes });
    return bound;
  }

  /**
   * Stores `bound` for the next call of the method `bound` with the same `parameters` object and
   * the same version of the catalog. A long text can thus be bound in a step of its own.
   */
  keepAhead(prepared: Prepared, parameters: ParameterValues, catalogVersion: number, bound: Bound): void {
    this.#ahead.set(prepared, { parameters, catalogVersion, bound });
  }

  #renew(kept: Kept): void {
    const { text } = kept.prepared;
    this.#kept.delete(text);
    this.#kept.set(text, kept);
    this.#newest = kept;
  }

  #keep(kept: Kept, variant: Variant): void {
    const oldest = kept.variants.length < MOST_VARIANTS ? undefined : kept.variants[0];
    kept.variants = [...kept.variants.slice(oldest === undefined ? 0 : 1), variant];
    this.#add(variant.bytes - (oldest?.bytes ?? 0));
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    while (this.#kept.size > this.#limits.statements || this.#bytes > this.#limits.bytes) {
      const [text, { prepared, variants }] = this.#kept.entries().next().value!;
      this.#kept.delete(text);
      this.#bytes -= treeBytes(prepared) + bytesOf(variants);
    }
  }

  #forgetBound(catalogVersion: number): void {
    this.#catalogVersion = catalogVersion;
    for (const kept of this.#kept.values()) {
      this.#bytes -= bytesOf(kept.variants);
      kept.variants = [];
    }
  }
}

function treeBytes({ text }: Prepared): number {
  return text.length * BYTES_OF_CHARACTER;
}

function bytesOf(variants: readonly Variant[]): number {
  return variants.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Returns the types of the named parameters, or undefined if one is missing or has no type. Binding
 * then reports the fault and its position.
 */
function typesOf(names: readonly string[], parameters: ParameterValues): ParameterType[] | undefined {
  const types: ParameterType[] = [];
  for (const name of names) {
    if (!Object.hasOwn(parameters, name)) return undefined;
    try {
      types.push(parameterType(name, parameters[name]));
    } catch {
      return undefined;
    }
  }
  return types;
}

function areEqual(a: readonly ParameterType[], b: readonly ParameterType[]): boolean {
  for (let i = 0; i < a.length; i++) {
    if (a[i]!.type !== b[i]!.type || a[i]!.itemType !== b[i]!.itemType) return false;
  }
  return true;
}
