// What an import of a HIF document and an export must give, and which losses the import must name,
// by the rules of src/cli/README.md (HIF).

import type { Element, HifDocument, Id, Incidence } from './hif-documents.ts';
import { TS } from './hif-documents.ts';

type Attrs = Record<string, unknown>;

/** The content of a document without its order. */
export interface Content {
  type: string;
  nodes: string[];
  edges: string[];
}

export interface Expected {
  content: Content;
  /** The losses, as the warning names them, without the new names of attributes. */
  losses: string[];
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const NOT_ROLES = ['id', 'event_ts', 'members', 'table', 'properties', 'weight', 'mean_dist_m', 'formation', 'end_ts'];

/** `nameOf` gives the new name of an attribute, as the warning names it. */
export function expectedOf(document: HifDocument, nameOf: (attr: string, of: 'edges' | 'nodes') => string): Expected {
  const losses: string[] = [];
  const lose = (count: number, what: string) => {
    if (count > 0) losses.push(what.replace('#', String(count)).replace('(s)', count === 1 ? '' : 's'));
  };
  const { incidences, edges = [], nodes = [] } = document;
  const roles = rolesOf(incidences);
  lose(incidences.filter(({ weight }) => weight !== undefined).length, 'the weight of # incidence(s)');
  lose(roles.lost, 'the role of # incidence(s)');
  lose(incidences.filter(hasOtherAttrs).length, 'the attributes of # incidence(s)');

  const nodeIds = [...incidences.map(({ node }) => node), ...nodes.map(({ node }) => node!)];
  const areTexts = nodeIds.some((id) => typeof id === 'string');
  const numbers = new Set(nodeIds.filter((id) => typeof id === 'number'));
  if (areTexts && numbers.size > 0) losses.push('the types of the ids of nodes (all are texts now)');
  const twins = [...numbers].filter((id) => nodeIds.includes(String(id)));
  lose(twins.length, `the difference between # number(s) and equal texts as ids of nodes`);

  const joined = new Set(incidences.map(({ edge }) => edge));
  const allEdges = merged(edges, ({ edge }) => edge!);
  for (const id of joined) if (!allEdges.has(id)) allEdges.set(id, { attrs: {}, isOverwritten: false });
  const kept = new Map([...allEdges].filter(([id]) => joined.has(id)));
  lose(allEdges.size - kept.size, '# edge(s) without a node');
  lose(overwritten(allEdges), 'what a later entry overwrites of # edge(s)');
  const allNodes = merged(nodes, ({ node }) => node!);
  lose(overwritten(allNodes), 'what a later entry overwrites of # node(s)');

  const types = new Set([...joined].map((id) => typeof id));
  if (types.size > 1) losses.push('the types of the ids of edges (all are texts now)');
  const twin = (id: Id) => allEdges.has(typeof id === 'number' ? String(id) : numberIn(id));
  lose([...joined].filter(twin).length, 'the ids of # edge(s) that differ only in type');

  const edgeAttrs = attrsOf(joined.size === 0 ? [] : edges, 'edges', roles.kept, losses);
  const nodeAttrs = attrsOf(nodes, 'nodes', [], losses);
  if (document.metadata !== undefined && Object.keys(document.metadata).length > 0)
    losses.push(`the metadata (${Object.keys(document.metadata).join(', ')})`);
  const type = roles.kept.some(isDirection) ? 'directed' : 'undirected';
  if (document['network-type'] !== undefined && document['network-type'] !== type)
    losses.push(`the network-type ${document['network-type']}`);

  const shownNode = (id: Id) => (areTexts ? String(id) : id);
  const nodeTexts = new Map<Id, string>();
  for (const id of nodeIds) {
    const given = allNodes.get(id);
    // Of two nodes that have become one, the attributes of either may be left.
    const isTwin = twins.includes(typeof id === 'number' ? id : (numberIn(id) as number));
    const shown = isTwin ? {} : shownElement(given, nodeAttrs, (attr) => nameOf(attr, 'nodes'));
    nodeTexts.set(shownNode(id), JSON.stringify([shownNode(id), isTwin ? 'one of two' : sorted(shown)]));
  }
  const edgeTexts = [...kept].map(([id, given]) => {
    const shown = shownElement(given, edgeAttrs, (attr) => nameOf(attr, 'edges'));
    const time = given.attrs.event_ts;
    const attrs = {
      ...(shown.attrs as Attrs),
      event_ts: typeof time === 'string' ? Date.parse(time) / 1000 : (time ?? (edgeAttrs.hasTimes ? 'any' : TS)),
    };
    const members = membersOf(
      incidences.filter(({ edge }) => edge === id),
      shownNode,
      roles.kept,
    );
    return JSON.stringify([types.size > 1 ? String(id) : id, sorted({ ...shown, attrs: sorted(attrs) }), members]);
  });
  return { content: { type, nodes: [...nodeTexts.values()].sort(), edges: edgeTexts.sort() }, losses: losses.sort() };
}

/**
 * Returns the content of an export. `hasTimes`: times of edges without `event_ts` are not compared.
 */
export function contentOf(document: HifDocument, original: HifDocument, hasTimes: boolean, twins: Set<Id>): Content {
  const { incidences, edges = [], nodes = [], metadata = {} } = document;
  const isNamed = metadata['edge-names'] !== undefined;
  const ids = new Set([...incidences.map(({ node }) => node), ...nodes.map(({ node }) => node!)]);
  const listed = new Map(nodes.map((node) => [node.node!, node]));
  const nodeTexts = [...ids].map((id) => {
    if (twins.has(id)) return JSON.stringify([id, 'one of two']);
    const { node: _, ...others } = listed.get(id) ?? {};
    return JSON.stringify([id, sorted({ attrs: {}, ...others, ...(others.attrs && { attrs: sorted(others.attrs) }) })]);
  });
  const originals = new Map((original.edges ?? []).map(({ edge, attrs }) => [edge!, attrs]));
  const timed = new Set([...originals].filter(([, attrs]) => attrs?.event_ts != null).map(([id]) => String(id)));
  const edgeTexts = edges.map(({ edge, weight, attrs = {} }) => {
    const column = isNamed
      ? undefined
      : Object.keys(attrs)
          .filter((name) => /^edge(_name(_\d+)?)?$/.test(name))
          .at(-1);
    const { [column ?? '']: name = edge, ...rest } = column === undefined ? { ...attrs } : attrs;
    const id = (column === undefined ? edge : name) as Id;
    const shown = { ...rest, ...(hasTimes && !timed.has(String(id)) ? { event_ts: 'any' } : {}) };
    const own = incidences.filter((incidence) => incidence.edge === edge);
    const all = { attrs: sorted(shown), ...(weight === undefined ? {} : { weight }) };
    return JSON.stringify([id, sorted(all), membersOf(own, (node) => node, undefined)]);
  });
  return { type: document['network-type']!, nodes: nodeTexts.sort(), edges: edgeTexts.sort() };
}

interface Merged {
  weight?: number | undefined;
  attrs: Attrs;
  isOverwritten: boolean;
}

/** Puts the entries of each id together; later ones count. */
function merged(list: readonly Element[], idOf: (element: Element) => Id): Map<Id, Merged> {
  const all = new Map<Id, Merged>();
  for (const element of list) {
    const { weight, attrs = {} } = element;
    const before = all.get(idOf(element));
    const isOther = Object.entries(before?.attrs ?? {}).some(
      ([name, value]) => Object.hasOwn(attrs, name) && JSON.stringify(attrs[name]) !== JSON.stringify(value),
    );
    const isHeavier = weight !== undefined && before?.weight !== undefined && before.weight !== weight;
    all.set(idOf(element), {
      weight: weight ?? before?.weight,
      attrs: { ...before?.attrs, ...attrs },
      isOverwritten: isOther || isHeavier || before?.isOverwritten === true,
    });
  }
  return all;
}

function overwritten(all: ReadonlyMap<Id, Merged>): number {
  return [...all.values()].filter(({ isOverwritten }) => isOverwritten).length;
}

interface AttrFacts {
  names: string[];
  mixed: Set<string>;
  movesWeight: boolean;
  /** Whether another attribute than event_ts may be read as the time. */
  hasTimes: boolean;
}

/** Which attributes there are, and which columns cannot hold them as they are. */
function attrsOf(
  list: readonly Element[],
  of: 'edges' | 'nodes',
  roles: readonly string[],
  losses: string[],
): AttrFacts {
  const values = new Map<string, unknown[]>();
  for (const { attrs = {} } of list)
    for (const [name, value] of Object.entries(attrs)) values.set(name, [...(values.get(name) ?? []), value]);
  const weights = list.some(({ weight }) => weight !== undefined);
  const present = (name: string) => (values.get(name) ?? []).filter((value) => value !== null);
  const areAll = (name: string, type: string) =>
    present(name).length > 0 && present(name).every((value) => typeof value === type);
  const areTexts = (name: string) =>
    present(name).length > 0 && present(name).every((value) => kindOf(value) === 'string');
  const facts: AttrFacts = { names: [...values.keys()], mixed: new Set(), movesWeight: false, hasTimes: false };
  const has = values.has('event_ts');
  if (of === 'edges' && areAll('event_ts', 'string'))
    losses.push('the notation of the attribute event_ts of edges (now seconds)');
  facts.hasTimes = of === 'edges' && !has && facts.names.length > 0;
  facts.movesWeight = !weights && areAll('weight', 'number');
  if (facts.movesWeight) losses.push(`the place of the attribute weight of ${of} (now their weight)`);
  for (const name of facts.names) {
    if (of === 'edges' && name === 'event_ts') continue;
    const shown = JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}...` : name);
    const kinds = new Set(present(name).map(kindOf));
    if (kinds.size > 1) facts.mixed.add(name);
    if (mayRename(name, facts, of, roles, { weights, areAll, areTexts }))
      losses.push(`the name of the attribute ${shown} of ${of}`);
    if (present(name).some((value) => typeof value === 'object'))
      losses.push(`the structure of the attribute ${shown} of ${of} (now JSON texts)`);
    if (kinds.size > 1) losses.push(`the types of the attribute ${shown} of ${of} (now texts)`);
  }
  return facts;
}

interface Checks {
  readonly weights: boolean;
  /** Whether all values of an attribute, of which there are some, are of a type. */
  readonly areAll: (name: string, type: string) => boolean;
  /** The same for texts, and for lists and objects, which become texts. */
  readonly areTexts: (name: string) => boolean;
}

/** Whether no column can have the name of an attribute. */
function mayRename(
  name: string,
  { names, movesWeight, mixed }: AttrFacts,
  of: 'edges' | 'nodes',
  roles: readonly string[],
  { weights, areAll, areTexts }: Checks,
): boolean {
  const lower = name.toLowerCase();
  const isFirst = names.find((one) => one.toLowerCase() === lower) === name;
  if (!IDENTIFIER.test(name) || !isFirst) return true;
  if (of === 'nodes') return name.toLowerCase() === 'weight' && weights;
  if (name === 'weight') return !movesWeight;
  if (name === 'mean_dist_m') return !areAll(name, 'number');
  if (name === 'formation') return !mixed.has(name) && !areTexts(name);
  if (name === 'end_ts') return !areAll(name, 'number');
  const isRole = roles.some((role) => role.toLowerCase() === lower) || (roles.length > 0 && lower === 'roles');
  return isRole || NOT_ROLES.includes(lower);
}

function kindOf(value: unknown): string {
  return typeof value === 'object' ? 'string' : typeof value;
}

function shownElement(given: Merged | undefined, facts: AttrFacts, nameOf: (attr: string) => string) {
  const attrs: Attrs = {};
  let weight = given?.weight;
  for (const [name, value] of Object.entries(given?.attrs ?? {})) {
    if (value === null) continue;
    if (name === 'weight' && facts.movesWeight) weight = value as number;
    else
      Object.defineProperty(attrs, nameOf(name), {
        value: typeof value === 'object' ? JSON.stringify(value) : facts.mixed.has(name) ? String(value) : value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
  }
  return { attrs: sorted(attrs) as Attrs, ...(weight === undefined ? {} : { weight }) };
}

function rolesOf(incidences: readonly Incidence[]): { kept: string[]; lost: number } {
  const counts = new Map<string, number>();
  for (const incidence of incidences)
    for (const role of ownRoles(incidence)) counts.set(role, (counts.get(role) ?? 0) + 1);
  const kept: string[] = [];
  let lost = 0;
  for (const [role, count] of [...counts].sort((a, b) => b[1] - a[1]))
    if (kept.some((one) => one.toLowerCase() === role.toLowerCase())) lost += count;
    else kept.push(role);
  return { kept, lost };
}

function ownRoles({ direction, attrs }: Incidence): Set<string> {
  const given = attrs?.role;
  const named = (Array.isArray(given) ? given : [given]).filter(isRole);
  return new Set(direction === undefined ? named : [direction, ...named]);
}

function isRole(value: unknown): value is string {
  return typeof value === 'string' && IDENTIFIER.test(value) && !NOT_ROLES.includes(value.toLowerCase());
}

function hasOtherAttrs({ attrs = {} }: Incidence): boolean {
  return Object.entries(attrs).some(([name, value]) => {
    const list = Array.isArray(value) ? value : [value];
    return name !== 'role' || list.length === 0 || !list.every(isRole);
  });
}

function isDirection(role: string): boolean {
  return role === 'head' || role === 'tail';
}

/** Returns the nodes of an edge, each with its roles; `kept`: others are not counted. */
function membersOf(own: readonly Incidence[], shown: (id: Id) => Id, kept: readonly string[] | undefined): unknown {
  const members = new Map<Id, Set<string>>();
  for (const incidence of own) {
    const node = shown(incidence.node);
    const roles = members.get(node) ?? new Set();
    members.set(node, roles);
    for (const role of ownRoles(incidence)) if (kept?.includes(role) !== false) roles.add(role);
  }
  return [...members].map(([node, roles]) => JSON.stringify([node, [...roles].sort()])).sort();
}

function numberIn(id: string): Id {
  return /^(0|-?[1-9]\d*)$/.test(id) && Number.isSafeInteger(Number(id)) ? Number(id) : Number.NaN;
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
