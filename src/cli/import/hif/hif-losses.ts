// While a HIF document is read, counts what will be lost when it is stored in a table. Reports the
// losses in one sentence.

import type { HifWhole } from './hif-parts.ts';
import { type HifEdge, type HifId, type HifIncidence, type HifNode, rolesOfIncidence } from './hif-schema.ts';

/**
 * At most this many ids of nodes in incidences are remembered, and as many of nodes in `nodes`, at
 * about 100 bytes each. When there are more, nodes without an edge are not counted.
 */
const MOST_IDS = 500_000;
/**
 * The value of `written-by` in exports of Hedgerow. In such an export, edges are named by their
 * ids, which need not be kept because an import assigns new ids.
 */
const WRITER = 'Hedgerow';

export class HifLosses {
  #incidenceWeights = 0;
  /** Number of incidences with each role. */
  readonly #roles = new Map<string, number>();
  #incidenceAttrs = 0;
  #nodeWeights = 0;
  #nodeAttrs = 0;
  #doubleWeights = 0;
  #memberAttrs = 0;
  #edgesWithoutNodes = 0;
  #overwrittenEdges = 0;
  #metadata: readonly string[] = [];
  #networkType: string | undefined;
  #isOwn = false;
  readonly #joined = new Set<HifId>();
  readonly #listed = new Set<HifId>();

  /** True when the document is an export of Hedgerow. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  incidence(incidence: HifIncidence): void {
    const { node, weight, attrs } = incidence;
    if (weight !== undefined) this.#incidenceWeights++;
    const roles = rolesOfIncidence(incidence);
    for (const role of roles) this.#roles.set(role, (this.#roles.get(role) ?? 0) + 1);
    if (hasKeys(withoutRole(attrs, roles))) this.#incidenceAttrs++;
    remember(this.#joined, node);
  }

  node({ node, weight, attrs }: HifNode): void {
    if (weight !== undefined) this.#nodeWeights++;
    if (hasKeys(attrs)) this.#nodeAttrs++;
    remember(this.#listed, node);
  }

  edge({ weight, attrs }: HifEdge): void {
    if (attrs === undefined) return;
    if (Object.hasOwn(attrs, 'members')) this.#memberAttrs++;
    if (weight !== undefined && Object.hasOwn(attrs, 'weight') && attrs.weight !== weight) this.#doubleWeights++;
  }

  /** Counts an edge after all of its parts have been put together. */
  whole({ nodes, isOverwritten }: HifWhole): void {
    if (nodes.length === 0) this.#edgesWithoutNodes++;
    if (isOverwritten) this.#overwrittenEdges++;
  }

  metadata(metadata: Readonly<Record<string, unknown>>): void {
    this.#isOwn = metadata['written-by'] === WRITER;
    this.#metadata = Object.keys(metadata).filter((key) => !this.#isOwn || key !== 'written-by');
  }

  networkType(type: string): void {
    this.#networkType = type;
  }

  /** The roles of incidences, the most frequent first. */
  get roles(): string[] {
    return [...this.#roles].sort((a, b) => b[1] - a[1]).map(([role]) => role);
  }

  /**
   * Returns a list with one sentence, or an empty list when everything is kept. `others` describes
   * further losses; `kept` are the roles that the table has; `keepsNodes`: nodes are stored with
   * their attributes.
   */
  sentence(label: string, others: readonly string[], kept: ReadonlySet<string>, keepsNodes: boolean): string[] {
    const ofNodes = keepsNodes
      ? []
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
      counted('the attribute members', this.#memberAttrs, 'edge'),
      counted('the attribute weight', this.#doubleWeights, 'edge', ' with another weight'),
      several(this.#edgesWithoutNodes, 'edge', ' without a node'),
      counted('what a later entry overwrites', this.#overwrittenEdges, 'edge'),
      ...others,
      this.#metadata.length === 0 ? '' : `the metadata (${shortened(this.#metadata)})`,
      this.#networkType === undefined ||
      this.#networkType === 'undirected' ||
      (isDirected && this.#networkType === 'directed')
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

/** Returns the attributes without `role`, if it was read as a role. */
function withoutRole(attrs: object | undefined, roles: readonly string[]): object | undefined {
  if (attrs === undefined || roles.every(isDirection) || !Object.hasOwn(attrs, 'role')) return attrs;
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
