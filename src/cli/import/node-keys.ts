// The keys of nodes that an import passes to a target, which checks them and creates the nodes.

import { MemberKeys } from '../../tabular/member-keys.ts';
import type { NamedNode } from './line-batches.ts';
import type { NodeNames } from './node-names.ts';

/** What becomes of the names of nodes: numbers that the import assigns, or keys. */
export type Members = NodeNames | NodeKeys;

export class NodeKeys extends MemberKeys {
  // Keys get no numbers here, so no name waits to be stored.

  readonly waiting = 0;

  take(): readonly NamedNode[] {
    return [];
  }

  forget(): void {}
}
