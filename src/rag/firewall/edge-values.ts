// Collects the values of the edges, facts and rules that a group of tags names. A number, time or
// quoted text next to the tags must be one of these values.

import type { Constant } from '../../rules/index.ts';
import type { RuleFact, StepFact } from '../derived-fact.ts';
import { holdsWord, keywordStem } from '../retrieval/keyword-match.ts';
import type { Member } from '../retrieval/member-keys.ts';
import type { RetrievedEdge } from '../retrieval/retrieved-edge.ts';
import { shownText } from '../stored-text.ts';
import type { Keyed } from './key-claims.ts';
import { comparable, folded } from './lookalikes.ts';
import { wholeAt } from './scan.ts';
import { parseTagName, type Tag } from './tags.ts';
import { storedTexts, toldBy } from './told.ts';

/** The derived facts of an answer by number: 1 for STEP-1. */
export interface StepFacts {
  has(number: number): boolean;
  get(number: number): StepFact | undefined;
  /** Returns the facts with which facts in the answer are compared. */
  values(): Iterable<Pick<StepFact, 'predicate' | 'args'>>;
}

/** All edges, facts and rules that the sentences of one answer may cite, by number. */
export interface Support {
  readonly edges: ReadonlyMap<number, RetrievedEdge>;
  readonly steps: StepFacts;
  readonly rules: ReadonlyMap<number, RuleFact>;
  /** Names of nodes, if a table contains them. */
  readonly names?: ReadonlyMap<Member, string> | undefined;
  /** What is known about the nodes of a named table, whose `names` are the keys. */
  readonly keyed?: Keyed | undefined;
  /** Values of the table's text columns in lower case, among those that a text may repeat. */
  readonly columnValues?: ReadonlySet<string> | undefined;
}

/** The values that a part of a sentence may repeat. */
export interface Cited {
  /** Values that are cited next to this part of the sentence. */
  readonly beside: Values;
  /** Values that are cited anywhere in the sentence. */
  readonly sentence: Values;
  /** Returns whether a fact was derived. The fact must be spelled by `factKey`. */
  readonly derives: (fact: string) => boolean;
  /** Returns whether a text in lower case is a value of any edge, cited or not. */
  readonly isValue: (value: string) => boolean;
  readonly keyed: Keyed | undefined;
}

/** Functions that read the built-in fields. */
export const FIELDS = new Map<string, (edge: RetrievedEdge) => readonly (number | string | null)[]>([
  ['id', (edge) => [edge.edge_id]],
  ['event_ts', (edge) => [edge.event_ts]],
  ['end_ts', (edge) => [edge.end_ts ?? null]],
  ['member', (edge) => edge.members],
  ['size', (edge) => [edge.members.length]],
  ['weight', (edge) => [edge.weight]],
  ['mean_dist_m', (edge) => [edge.mean_dist_m]],
  ['formation', (edge) => [edge.formation]],
  ['score', (edge) => [edge.score]],
]);
/** Fields whose numbers may be repeated without naming the field. Columns are such fields too. */
const UNNAMED = 'id,event_ts,end_ts,member,size,weight,mean_dist_m,confidence,arg,rule text'.split(',');
/** If the cited texts are longer than this in total, they are not searched for names. */
const MOST_NAMED_CHARACTERS = 200_000;

/** Returns the values of a field, column or role. `name` is in lower case. */
export function fieldOf(name: string, edge: RetrievedEdge): readonly unknown[] {
  const columns = Object.keys(edge.properties).filter((column) => column.toLowerCase() === name);
  const builtIn = FIELDS.get(name)?.(edge) ?? [];
  const roles = Object.entries(edge.roles ?? {}).flatMap(([role, nodes]) =>
    role.toLowerCase() === name ? nodes.flatMap(withoutKind) : [],
  );
  if (columns.length === 0 && roles.length === 0) return builtIn;
  return [...builtIn, ...columns.map((column) => edge.properties[column]), ...roles];
}

/** Returns a member and, if it is a text with a kind, its key. */
function withoutKind(member: Member): Member[] {
  const colon = typeof member === 'string' ? member.indexOf(':') : -1;
  return colon < 0 ? [member] : [member, String(member).slice(colon + 1)];
}

export function valuesOf(tags: Iterable<Tag>, support: Support): Values {
  const edges = new Map<number, RetrievedEdge>();
  const steps = new Set<StepFact>();
  const rules = new Set<RuleFact>();
  for (const { kind, number } of tags) {
    if (kind === 'HEDGE') edges.set(number, support.edges.get(number)!);
    else if (kind === 'STEP') steps.add(support.steps.get(number)!);
    else rules.add(support.rules.get(number)!);
  }
  const citedEdges = edges.size;
  for (const name of [...steps].flatMap((step) => step.hedge_tags)) {
    const edge = support.edges.get(tagNumber(name));
    if (edge !== undefined) edges.set(edge.edge_id, edge);
  }
  const names = new Set<string>();
  if (support.names !== undefined) {
    for (const { members } of edges.values())
      for (const node of members) {
        if (support.names.has(node)) names.add(support.names.get(node)!);
        if (typeof node === 'string') names.add(node);
      }
  }
  const { names: keys, keyed } = support;
  const keyOf = keyed && ((text: Member) => keys?.get(text) ?? text);
  const things = { edges: [...edges.values()], citedEdges, steps: [...steps], rules: [...rules], names: [...names] };
  return readerOf({ ...things, keyOf });
}

/** The values that a group of tags cites. They are computed on first use. */
export type Values = ReturnType<typeof readerOf>;

interface CitedThings {
  /** The cited edges, then the edges from which the cited facts derive. */
  readonly edges: readonly RetrievedEdge[];
  /** Number of edges that are cited themselves. */
  readonly citedEdges: number;
  readonly steps: readonly StepFact[];
  readonly rules: readonly RuleFact[];
  /** Names of the members of `edges`. */
  readonly names: readonly string[];
  /** Returns the key of a member of a named table without its kind. */
  readonly keyOf: ((member: Member) => Member) | undefined;
}

function readerOf(cited: CitedThings) {
  const { edges, names } = cited;
  const fields = new Map<string, Float64Array>();
  /**
   * Returns the numbers in a field, ascending. `name` is a field such as `member`, or a column in
   * lower case; an unknown name gives no numbers.
   */
  const field = (name: string): Float64Array => {
    let values = fields.get(name);
    if (values === undefined) {
      values = Float64Array.from(numbersOf(name, cited)).sort();
      fields.set(name, values);
    }
    return values;
  };
  const columns = once(() => fieldNames(edges));
  const plain = once(() => plainTexts(cited));
  /** Returns the times at which edges begin, and those at which they end, in seconds. */
  const times = once(() => edges.flatMap(({ event_ts, end_ts }) => (end_ts == null ? [event_ts] : [event_ts, end_ts])));
  const dates = once(() => times().map((seconds) => new Date(seconds * 1000)));
  /** Returns all texts and names in lower case, or undefined if they are too long in total. */
  const words = once(() => {
    const all = [...plain(), ...names, ...columns()];
    const length = all.reduce((sum, text) => sum + text.length + 1, 0);
    return length > MOST_NAMED_CHARACTERS ? undefined : folded(all.join('|')).toLowerCase();
  });
  const memberSets = once(() => memberSetsOf(cited));
  return {
    ...cited,
    field,
    columns,
    times,
    dates,
    /** Returns whether `name` is a built-in field or a column of the cited edges. */
    hasField: (name: string) => FIELDS.has(name) || columns().has(name),
    /** Returns whether there are edges and a field is null in all of them. */
    isEmpty: (name: string) => edges.length > 0 && field(name).length === 0 && textsOfField(name, edges).length === 0,
    /** Returns all numbers that may be repeated without naming their field. */
    all: once(() => {
      const named = [...UNNAMED, ...columns()].flatMap((name) => [...field(name)]);
      const ofTime = dates().flatMap((date) => {
        const year = date.getUTCFullYear();
        return [date.getTime(), year, year * 10_000 + (date.getUTCMonth() + 1) * 100 + date.getUTCDate()];
      });
      return Float64Array.from([...named, ...ofTime].filter((value) => !Number.isNaN(value))).sort();
    }),
    /** Returns the texts, as stored and as shown, and the names; all normalised by `comparable`. */
    texts: once(
      (): ReadonlySet<string> =>
        new Set([...[...plain(), ...names].flatMap((text) => [text, shownText(text)])].map(comparable)),
    ),
    /** Returns the words and numbers that the texts of the edges contain. */
    told: once(() => toldBy(edges, names)),
    /**
     * Returns whether the word occurs in a cited text or in the name of a node, column or rule.
     * Returns true if the texts are too long to be searched.
     */
    knows: (word: string) => words() === undefined || holdsWord(words()!, keywordStem(comparable(word))),
    /** Returns whether a key in comparable form is that of a member, or occurs in a cited text. */
    hasKey: (key: string) => memberSets().some((set) => set.has(key)) || wholeAt(words() ?? '', key, 0) >= 0,
    /** For each edge and fact its members or arguments: numbers, and texts in comparable form. */
    memberSets,
    /**
     * Returns plausible counts of members: in one edge, in all edges together, and common to all
     * edges.
     */
    memberCounts: once(() => countsOfMembers(edges)),
  };
}

/** Returns the names of the edges' columns and roles in lower case. */
function fieldNames(edges: readonly RetrievedEdge[]): ReadonlySet<string> {
  const names = edges.flatMap(({ properties, roles = {} }) => [...Object.keys(properties), ...Object.keys(roles)]);
  return new Set(names.map((name) => name.toLowerCase()));
}

/** Returns a function that calls `make` on first use and then always returns the same value. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function memberSetsOf({ edges, steps, keyOf }: CitedThings): ReadonlySet<Constant>[] {
  return [...edges.map(({ members }) => members), ...steps.map(({ args }) => args)].map((values) => {
    const set = new Set<Constant>(values);
    for (const value of values) {
      if (keyOf === undefined || typeof value !== 'string') continue;
      const key = keyOf(value);
      for (const text of [value, String(key)]) set.add(comparable(text));
      for (const number of integersOf(String(key))) set.add(number);
    }
    return set;
  });
}

/** Returns the integer that a key is, if it is one. */
function integersOf(key: string): number[] {
  return /^-?\d{1,16}$/.test(key) ? [Number(key)] : [];
}

function countsOfMembers(edges: readonly RetrievedEdge[]): number[] {
  const holders = new Map<Member, number>();
  for (const edge of edges) for (const member of edge.members) holders.set(member, (holders.get(member) ?? 0) + 1);
  const shared = [...holders.values()].filter((held) => held === edges.length).length;
  return [...new Set([...edges.map((edge) => edge.members.length), holders.size, shared])];
}

function numbersOf(name: string, { edges, steps, rules, keyOf }: CitedThings): number[] {
  if (name === 'confidence') return steps.map((step) => step.confidence);
  if (keyOf !== undefined && (name === 'arg' || name === 'member')) {
    const values = name === 'arg' ? steps.flatMap(({ args }) => args) : edges.flatMap(({ members }) => members);
    return values.flatMap((value) =>
      typeof value === 'number' ? value : typeof value === 'string' ? integersOf(String(keyOf(value))) : [],
    );
  }
  if (name === 'arg') return steps.flatMap((step) => step.args.filter((arg) => typeof arg === 'number'));
  if (name === 'step') return steps.map((step) => tagNumber(step.step_tag));
  if (name === 'rule') return [...steps, ...rules].map((item) => tagNumber(item.rule_tag));
  if (name === 'rule text') return rules.flatMap(({ name, id, text }) => numbersIn(`${name} ${id} ${text}`));
  return edges.flatMap((edge) => fieldOf(name, edge).filter((value) => typeof value === 'number'));
}

function tagNumber(tag: string): number {
  return parseTagName(tag)?.number ?? Number.NaN;
}

function numbersIn(text: string): number[] {
  return (folded(text.slice(0, 2000)).match(/(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?/gi) ?? []).map(Number);
}

/** Returns the texts in one field: `formation` or a column. */
export function textsOfField(name: string, edges: readonly RetrievedEdge[]): string[] {
  const values = edges.flatMap((edge) => (name === 'member' ? [] : fieldOf(name, edge)));
  return values.filter((value) => value !== null && typeof value !== 'number').map(String);
}

function plainTexts({ edges, steps, rules }: CitedThings): string[] {
  return [
    ...edges.flatMap(storedTexts),
    ...steps.flatMap(({ fact, predicate, rule_id, args }) => [fact, predicate, rule_id, ...args]),
    ...rules.flatMap(({ id, name, text }) => [id, name, text]),
  ].filter((text) => typeof text === 'string');
}

/** Returns whether ascending `values` contain a number from `low` to `high`, both included. */
export function hasBetween(values: Float64Array, low: number, high: number): boolean {
  let from = 0;
  let to = values.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle]! < low) from = middle + 1;
    else to = middle;
  }
  return from < values.length && values[from]! <= high;
}
