// Collects the titled schemas, so that the document contains each of them once.

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from './json-schema.ts';

/** Keywords whose content is a value, not a schema. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

export class Components {
  readonly #schemas = new Map<string, unknown>();

  /** Returns `schema` with every titled schema in it, including itself, replaced by a reference. */
  take(schema: JsonObject): JsonObject {
    return this.#replace(schema) as JsonObject;
  }

  /** Returns the collected schemas by name, sorted. */
  schemas(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #replace(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#replace(item));
    if (typeof value !== 'object' || value === null) return value;
    const { title, ...rest } = value as JsonObject;
    const replaced = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, this.#part(key, inner)]));
    if (typeof title !== 'string') return replaced;
    const known = this.#schemas.get(title);
    if (known !== undefined && !isDeepStrictEqual(known, replaced)) throw new Error(`two schemas are called ${title}`);
    this.#schemas.set(title, replaced);
    return { $ref: `#/components/schemas/${title}` };
  }

  #part(keyword: string, value: unknown): unknown {
    if (VALUES.has(keyword)) return value;
    if (keyword !== 'properties') return this.#replace(value);
    // Property names are not keywords.
    return Object.fromEntries(Object.entries(value as JsonObject).map(([name, one]) => [name, this.#replace(one)]));
  }
}
