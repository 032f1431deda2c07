// Statements that were read and bound before: by their text, and by the types of their parameters in one state of the catalog.

import type { BoundDelete, BoundInsert, BoundUpdate } from './binder/bound.ts';
import { type ParameterType, type ParameterValues, parameterType } from './binder/parameters.ts';
import type { MatchShape } from './planner/shape.ts';
import { type Prepared, prepareText } from './prepare.ts';

/** What is kept at most; what was used longest ago goes first. */
export interface CacheLimits {
  readonly statements: number;
  /** Bytes of trees, about. */
  readonly bytes: number;
}

const LIMITS: CacheLimits = { statements: 1000, bytes: 32 * 2 ** 20 };
/** The longest text that is kept, in characters. */
const LONGEST_KEPT = 4096;
/** Bytes of a tree, syntax or bound, for every character of its text; a token takes two or more. */
const BYTES_OF_CHARACTER = 100;
/** Bytes of a result column: `RETURN *` is short and may give a thousand. */
const BYTES_OF_COLUMN = 400;
/** Combinations of types that one text is kept bound for. */
const MOST_VARIANTS = 4;

/** What a text is bound to. Shared by all runs: nobody changes it. */
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
  /** Texts that came once. Those that come again are kept; so a flood of texts that do not leaves what is kept alone. */
  readonly #seen = new Set<string>();
  /** In the order of use. */
  readonly #kept = new Map<string, Kept>();
  #newest: Kept | undefined;
  readonly #ahead = new WeakMap<
    Prepared,
    { readonly parameters: ParameterValues; readonly catalogVersion: number; readonly bound: Bound }
  >();
  #bytes = 0;
  /** The state of the catalog that everything bound was bound in. */
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

  /** Throws `syntax_error`. */
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

  /** What `bind` gives for these types in this state of the catalog, from an earlier call or from `bind`, which throws for what cannot be bound. */
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

  /** Gives `bound` to the next call of `bound` with these parameters in this state of the catalog: binding a long text is a step of its own. */
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

/** Undefined when one is missing or has no type: binding says what is wrong, and where. */
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
