// While a HIF document is read, counts what will be lost when it is stored in a table. Reports the
// losses in one sentence.

import { IDENTIFIER } from '../../../model/columns.ts';
import { EDGE_NAMES, WRITER } from '../../hif-names.ts';
import type { HifWhole } from './hif-parts.ts';
import { type HifId, type HifIncidence, type HifNode, isRoleList, rolesOfIncidence } from './hif-schema.ts';

/**
 * At most this many ids of nodes in incidences are remembered, and as many of nodes in `nodes`, at
 * about 100 bytes each. When there are more, nodes without an edge are not counted.
 */
const MOST_IDS = 500_000;
export class HifLosses {
  #incidenceWeights = 0;
  /** Number of incidences with each role. */
  readonly #roles = new Map<string, number>();
  #incidenceAttrs = 0;
  #nodeWeights = 0;
  #nodeAttrs = 0;
  #edgesWithoutNodes = 0;
  #edgeTwins = 0;
  #overwrittenEdges = 0;
  #metadata: readonly string[] = [];
  #networkType: string | undefined;
  #isOwn = false;
  #nameColumn: string | undefined;
  readonly #joined = new Set<HifId>();
  readonly #listed = new Set<HifId>();

  /**
   * True when the document is an export of Hedgerow. In such an export, edges are named by their
   * ids, which need not be kept because an import assigns new ids, unless `nameColumn` is defined.
   */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  /** The column whose values the ids of edges are, in an export of Hedgerow that names it. */
  get nameColumn(): string | undefined {
    return this.#nameColumn;
  }

  incidence(incidence: HifIncidence): void {
    const { node, weight, attrs } = incidence;
    if (weight !== undefined) this.#incidenceWeights++;
    const roles = rolesOfIncidence(incidence);
    for (const role of roles) this.#roles.set(role, (this.#roles.get(role) ?? 0) + 1);
    if (hasKeys(withoutRole(attrs))) this.#incidenceAttrs++;
    remember(this.#joined, node);
  }

  node({ node, weight, attrs }: HifNode): void {
    if (weight !== undefined) this.#nodeWeights++;
    if (hasKeys(attrs)) this.#nodeAttrs++;
    remember(this.#listed, node);
  }

  /** Counts an edge after all of its parts have been put together. */
  whole({ nodes, isOverwritten, hasTwin }: HifWhole): void {
    if (nodes.length === 0) this.#edgesWithoutNodes++;
    else if (hasTwin) this.#edgeTwins++;
    if (isOverwritten) this.#overwrittenEdges++;
  }

  metadata(metadata: Readonly<Record<string, unknown>>): void {
    this.#isOwn = metadata['written-by'] === WRITER;
    const column = metadata[EDGE_NAMES];
    this.#nameColumn = this.#isOwn && typeof column === 'string' && IDENTIFIER.test(column) ? column : undefined;
    const own = this.#isOwn ? ['written-by', ...(this.#nameColumn === undefined ? [] : [EDGE_NAMES])] : [];
    this.#metadata = Object.keys(metadata).filter((key) => !own.includes(key));
  }

  networkType(type: string): void {
    this.#networkType = type;
  }

  /** The roles of incidences, the most frequent first; of names that differ by case, only one. */
  get roles(): string[] {
    const all = [...this.#roles].sort((a, b) => b[1] - a[1]).map(([role]) => role);
    const isFirst = (role: string, at: number) =>
      all.findIndex((one) => one.toLowerCase() === role.toLowerCase()) === at;
    return all.filter(isFirst);
  }

  /** Describes nodes of which one has a number as its id, and another one the same as a text. */
  twins(): string {
    const ids = new Set([...this.#joined, ...this.#listed]);
    let count = 0;
    for (const id of ids) if (typeof id === 'number' && ids.has(String(id))) count++;
    return count === 0
      ? ''
      : `the difference between ${count} number${count === 1 ? '' : 's'} and equal texts as ids of nodes`;
  }

  /** Describes the same of edges. */
  edgeTwins(): string {
    return counted('the ids', this.#edgeTwins, 'edge', ' that differ only in type');
  }

  /**
   * Returns a list with one sentence, or an empty list when everything is kept. `others` describes
   * further losses, `nodes` those of nodes that are stored; `kept` are the roles that the table
   * has; `keepsNodes`: nodes are stored with their attributes.
   */
  sentence(
    label: string,
    others: readonly string[],
    nodes: readonly string[],
    kept: ReadonlySet<string>,
    keepsNodes: boolean,
  ): string[] {
    const ofNodes = keepsNodes
      ? nodes
      : [
          counted('the weight', this.#nodeWeights, 'node'),
          counted('the attributes', this.#nodeAttrs, 'node'),
          this.#isFull ? 'nodes without an edge (too many nodes to count them)' : '',
          several(this.#isFull ? 0 : this.#isolated(), 'node', ' without an edge'),
        ];
    const isDirected = kept.has('head') || kept.has('tail');
    const found = [
      counted('the weight', this.#incidenceWeights, 'incidence'),
      ...this.#lostRoles(kept),
      counted('the attributes', this.#incidenceAttrs, 'incidence'),
      ...ofNodes,
      several(this.#edgesWithoutNodes, 'edge', ' without a node'),
      counted('what a later entry overwrites', this.#overwrittenEdges, 'edge'),
      ...others,
      this.#metadata.length === 0 ? '' : `the metadata (${shortened(this.#metadata)})`,
      this.#networkType === undefined || this.#networkType === (isDirected ? 'directed' : 'undirected')
        ? ''
        : `the network-type ${this.#networkType}`,
    ].filter((each) => each !== '');
    return found.length === 0 ? [] : [`Not kept of ${label}: ${found.join(', ')}.`];
  }

  /** The directions and roles that the table does not have. */
  #lostRoles(kept: ReadonlySet<string>): string[] {
    const lost = [...this.#roles].filter(([role]) => !kept.has(role));
    const sumOf = (isIt: (role: string) => boolean) =>
      lost.reduce((sum, [role, count]) => sum + (isIt(role) ? count : 0), 0);
    return [
      counted('the direction', sumOf(isDirection), 'incidence'),
      counted(
        'the role',
        sumOf((role) => !isDirection(role)),
        'incidence',
      ),
    ];
  }

  /** Whether nodes were listed that are in no incidence, as far as is known. */
  get mayHaveIsolated(): boolean {
    return this.#isFull || this.#isolated() > 0;
  }

  get #isFull(): boolean {
    return this.#listed.size > 0 && (this.#joined.size >= MOST_IDS || this.#listed.size >= MOST_IDS);
  }

  #isolated(): number {
    let count = 0;
    for (const node of this.#listed) if (!this.#joined.has(node)) count++;
    return count;
  }
}

/** Returns the attributes without `role`, if all of it was read as roles. */
function withoutRole(attrs: Readonly<Record<string, unknown>> | undefined): object | undefined {
  if (attrs === undefined || !Object.hasOwn(attrs, 'role') || !isRoleList(attrs.role)) return attrs;
  return Object.fromEntries(Object.entries(attrs).filter(([name]) => name !== 'role'));
}

function isDirection(role: string): boolean {
  return role === 'head' || role === 'tail';
}

function hasKeys(attrs: object | undefined): boolean {
  return attrs !== undefined && Object.keys(attrs).length > 0;
}

function remember(ids: Set<HifId>, id: HifId): void {
  if (ids.size < MOST_IDS) ids.add(id);
}

function counted(what: string, count: number, of: string, which = ''): string {
  return count === 0 ? '' : `${what} of ${several(count, of, which)}`;
}

function several(count: number, of: string, which: string): string {
  return count === 0 ? '' : `${count} ${of}${count === 1 ? '' : 's'}${which}`;
}

function shortened(keys: readonly string[]): string {
  const first = keys.slice(0, 10).map((key) => (key.length > 40 ? `${key.slice(0, 40)}...` : key));
  return `${first.join(', ')}${keys.length > 10 ? ', ...' : ''}`;
}
