// Builds an edge from the values in a row, for every file format.

import type { EdgeInput, PropertyValue } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { RoleLists } from '../../model/roles.ts';
import { parsedList } from './cell-values.ts';
import type { Target } from './targets.ts';

/**
 * Builds one edge, or one node if `isNode` is true. Values are checked later, when the edge is
 * added to its table.
 */
export class EdgeBuilder {
  #eventTs: unknown;
  #members: unknown;
  /** What a column `roles` has, and the lists of columns that are named as roles. */
  #roles: unknown;
  #lists: Record<string, unknown> | undefined;
  // The object has no prototype because a column may be named `__proto__`.
  readonly #isNode: boolean;
  readonly #properties: Record<string, PropertyValue> = Object.create(null);

  constructor(isNode = false) {
    this.#isNode = isNode;
  }

  /** `value` may be of any type; it is checked later. */
  set(target: Target, value: unknown): void {
    switch (target.kind) {
      case 'event_ts':
        this.#eventTs = value;
        break;
      case 'members':
        this.#members = nodesOf(value, target);
        break;
      case 'roles':
        this.#roles = value;
        break;
      case 'role':
        this.#addRole(target.name, nodesOf(value, target));
        break;
      case 'property':
        this.#properties[target.name] = value as PropertyValue;
    }
  }

  #addRole(name: string, value: unknown): void {
    if (isMissing(value)) return;
    this.#lists ??= Object.create(null) as Record<string, unknown>;
    this.#lists[name] = value;
  }

  #givenRoles(): unknown {
    const roles = isMissing(this.#roles) ? undefined : this.#roles;
    if (this.#lists === undefined) return roles;
    return typeof roles === 'object' && !Array.isArray(roles) ? { ...roles, ...this.#lists } : this.#lists;
  }

  /**
   * Returns the edge. Throws `invalid_input` if `event_ts` is missing, or `members` and all roles
   * are. Of a node only the properties count.
   */
  edge(): EdgeInput {
    if (this.#isNode) return { event_ts: 0, members: [], properties: this.#properties };
    if (isMissing(this.#eventTs)) throw missing('event_ts');
    const roles = this.#givenRoles();
    if (isMissing(this.#members) && roles === undefined) throw missing('members');
    return {
      event_ts: this.#eventTs as number,
      members: (this.#members ?? []) as readonly number[],
      roles: roles as RoleLists | undefined,
      properties: this.#properties,
    };
  }
}

/** Returns members as they are given; Parquet has members of several kinds as JSON text. */
function nodesOf(value: unknown, { kinds }: Extract<Target, { kind: 'members' | 'role' }>): unknown {
  return kinds !== undefined && typeof value === 'string' ? (parsedList(value) ?? value) : value;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function missing(name: string): HedgerowError {
  return new HedgerowError('invalid_input', `${name} is missing.`);
}
