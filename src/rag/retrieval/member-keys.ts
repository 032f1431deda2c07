// Members of a named table as facts, prompts, the firewall and answers have them. Retrieval finds
// edges by the numbers of nodes; edges that it returns have keys.

import type { NodeKind, Nodes, Table } from '../../engine/index.ts';
import type { KindAndKey, NodeKey } from '../../model/node-refs.ts';

/**
 * A member as facts have it: a number or, in a named table, the key; the text `Kind:key` if the
 * members have several kinds.
 */
export type Member = number | string;

export class MemberKeys {
  readonly kinds: readonly NodeKind[];
  readonly nodes: Nodes;
  readonly #hasKinds: boolean;

  private constructor(kinds: readonly NodeKind[], nodes: Nodes) {
    this.kinds = kinds;
    this.nodes = nodes;
    this.#hasKinds = kinds.length > 1;
  }

  /** Returns undefined for a table of numbers. */
  static of({ kinds }: Table, nodes: Nodes): MemberKeys | undefined {
    return kinds === undefined ? undefined : new MemberKeys(kinds, nodes);
  }

  /** Returns the member with a number; the number itself if there never was such a node. */
  memberOf(number: number): Member {
    const node = this.nodes.nodeOf(number);
    return node === undefined ? number : this.#hasKinds ? `${node.kind}:${node.key}` : node.key;
  }

  /** Returns the key of a node, without its kind; undefined if there never was such a node. */
  keyOf(number: number): NodeKey | undefined {
    return this.nodes.nodeOf(number)?.key;
  }

  /** Returns the kind and the key of a member. */
  nodeOf(member: Member): KindAndKey {
    if (!this.#hasKinds || typeof member === 'number') return { kind: this.kinds[0]!.name, key: member };
    const colon = member.indexOf(':');
    const kind = member.slice(0, colon);
    const key = member.slice(colon + 1);
    return { kind, key: this.kinds.find(({ name }) => name === kind)?.isInteger === true ? Number(key) : key };
  }

  /** Returns the number of a member, or undefined if there is no such node. */
  numberOf(member: Member): number | undefined {
    const { kind: name, key } = this.nodeOf(member);
    const kind = this.kinds.find((one) => one.name === name);
    return (kind && this.nodes.find(kind.table, key)) || undefined;
  }

  /** Returns a member as answers show it: its key, or an object with kind and key. */
  shown(member: Member): NodeKey | KindAndKey {
    return this.#hasKinds ? this.nodeOf(member) : member;
  }
}
