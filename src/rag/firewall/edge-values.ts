// The values that one group of tags stands for: a number, time or quoted text next to the tags must
// be among them.

import type { RuleFact, StepFact } from '../derived-fact.ts';
import { holdsWord, keywordStem } from '../retrieval/keyword-match.ts';
import type { RetrievedEdge } from '../retrieval/retrieved-edge.ts';
import { shownText } from '../stored-text.ts';
import { comparable, folded } from './lookalikes.ts';
import { parseTagName, type Tag } from './tags.ts';
import { storedTexts, toldBy } from './told.ts';

/** Steps by number. */
export interface StepFacts {
  has(number: number): boolean;
  get(number: number): StepFact | undefined;
  /** The facts of all steps. */
  values(): Iterable<Pick<StepFact, 'predicate' | 'args'>>;
}

/** Everything that the sentences of one answer may cite, by number. */
export interface Support {
  readonly edges: ReadonlyMap<number, RetrievedEdge>;
  readonly steps: StepFacts;
  readonly rules: ReadonlyMap<number, RuleFact>;
  /** Names of nodes, if a table keeps them. */
  readonly names?: ReadonlyMap<number, string> | undefined;
}

/** Readers of the built-in fields, by field name. */
const FIELDS: ReadonlyMap<string, (edge: RetrievedEdge) => readonly (number | null)[]> = new Map([
  ['id', (edge) => [edge.edge_id]],
  ['event_ts', (edge) => [edge.event_ts]],
  ['member', (edge) => edge.members],
  ['size', (edge) => [edge.members.length]],
  ['weight', (edge) => [edge.weight]],
  ['mean_dist_m', (edge) => [edge.mean_dist_m]],
  ['score', (edge) => [edge.score]],
]);

export function valuesOf(tags: Iterable<Tag>, support: Support): Values {
  const edges = new Map<number, RetrievedEdge>();
  const steps = new Set<StepFact>();
  const rules = new Set<RuleFact>();
  for (const tag of tags) {
    if (tag.kind === 'HEDGE') edges.set(tag.number, support.edges.get(tag.number)!);
    else if (tag.kind === 'STEP') steps.add(support.steps.get(tag.number)!);
    else rules.add(support.rules.get(tag.number)!);
  }
  const citedEdges = edges.size;
  for (const step of steps) {
    for (const name of step.hedge_tags) {
      const number = parseTagName(name)?.number;
      const edge = number === undefined ? undefined : support.edges.get(number);
      if (edge !== undefined) edges.set(edge.edge_id, edge);
    }
  }
  const names = new Set<string>();
  for (const { members } of support.names === undefined ? [] : edges.values())
    for (const node of members) if (support.names!.has(node)) names.add(support.names!.get(node)!);
  return readerOf({ edges: [...edges.values()], citedEdges, steps: [...steps], rules: [...rules], names: [...names] });
}

/** Lazy view of the values; each part is computed on first use. */
export type Values = ReturnType<typeof readerOf>;

/** The cited edges and those that the cited steps rest on; `names` are those of their members. */
interface CitedThings {
  readonly edges: readonly RetrievedEdge[];
  readonly citedEdges: number;
  readonly steps: readonly StepFact[];
  readonly rules: readonly RuleFact[];
  readonly names: readonly string[];
}

function readerOf(cited: CitedThings) {
  const { edges, names } = cited;
  const fields = new Map<string, Float64Array>();
  /**
   * Ascending values of a field (`member`, `weight`, a column in lower case, ...); empty if
   * unknown.
   */
  const field = (name: string): Float64Array => {
    let values = fields.get(name);
    if (values === undefined) {
      values = ascending(numbersOf(name, cited));
      fields.set(name, values);
    }
    return values;
  };
  /** Columns of the edges, in lower case. */
  const columns = once(
    (): ReadonlySet<string> =>
      new Set(edges.flatMap((edge) => Object.keys(edge.properties).map((name) => name.toLowerCase()))),
  );
  const words = once(() => namedText([...plainTexts(cited), ...names, ...columns()]));
  return {
    ...cited,
    field,
    columns,
    /** Whether the cited edges have such a field. */
    hasField: (name: string) => FIELDS.has(name) || name === 'formation' || columns().has(name),
    /** Whether a field is null in all edges. */
    isEmpty: (name: string) => edges.length > 0 && field(name).length === 0 && textsOfField(name, edges).length === 0,
    /** All numbers that may be repeated without naming their field. */
    all: once(() => everyNumber(field, columns(), edges)),
    /**
     * Stored texts, both as stored and as shown in the context, and the names of nodes, rules and
     * predicates, normalised by `comparable`.
     */
    texts: once(
      (): ReadonlySet<string> =>
        new Set([...plainTexts(cited).flatMap((text) => [text, shownText(text)]), ...names].map(comparable)),
    ),
    /** What the texts of the edges say. */
    told: once(() => toldBy(edges, names)),
    /** Whether this word occurs in anything cited, including the names of columns and rules. */
    knows: (word: string) => words() === undefined || holdsWord(words()!, keywordStem(comparable(word))),
    /**
     * Plausible counts of members: of one edge, of all edges together, and of the members that all
     * edges share.
     */
    memberCounts: once(() => countsOfMembers(edges)),
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function countsOfMembers(edges: readonly RetrievedEdge[]): number[] {
  const holders = new Map<number, number>();
  for (const edge of edges) for (const member of edge.members) holders.set(member, (holders.get(member) ?? 0) + 1);
  const shared = [...holders.values()].filter((held) => held === edges.length).length;
  return [...new Set([...edges.map((edge) => edge.members.length), holders.size, shared])];
}

function ascending(values: Iterable<number>): Float64Array {
  return Float64Array.from(values).sort();
}

function numbersOf(name: string, { edges, steps, rules }: CitedThings): number[] {
  if (name === 'confidence') return steps.map((step) => step.confidence);
  if (name === 'arg') return steps.flatMap((step) => step.args.filter((arg) => typeof arg === 'number'));
  if (name === 'step') return steps.map((step) => tagNumber(step.step_tag));
  if (name === 'rule') return [...steps, ...rules].map((item) => tagNumber(item.rule_tag));
  if (name === 'rule text') return rules.flatMap(({ name, id, text }) => numbersIn(`${name} ${id} ${text}`));
  const numbers: number[] = [];
  const builtIn = FIELDS.get(name);
  for (const edge of edges) {
    for (const value of builtIn?.(edge) ?? []) if (value !== null) numbers.push(value);
    for (const [column, value] of Object.entries(edge.properties)) {
      if (typeof value === 'number' && column.toLowerCase() === name) numbers.push(value);
    }
  }
  return numbers;
}

function tagNumber(tag: string): number {
  return parseTagName(tag)?.number ?? Number.NaN;
}

export function numbersIn(text: string): number[] {
  return (folded(text.slice(0, 2000)).match(/(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?/gi) ?? []).map(Number);
}

function everyNumber(
  field: (name: string) => Float64Array,
  columns: ReadonlySet<string>,
  edges: readonly RetrievedEdge[],
): Float64Array {
  const numbers = [...UNNAMED, ...columns].flatMap((name) => [...field(name)]);
  for (const { event_ts } of edges) {
    const date = new Date(event_ts * 1000);
    const year = date.getUTCFullYear();
    numbers.push(event_ts * 1000, year, year * 10_000 + (date.getUTCMonth() + 1) * 100 + date.getUTCDate());
  }
  return ascending(numbers.filter((value) => !Number.isNaN(value)));
}

/** Fields, besides columns, whose numbers may be repeated without naming the field. */
const UNNAMED = 'id,event_ts,member,size,weight,mean_dist_m,confidence,arg,rule text'.split(',');

/** Stored texts of one field: `formation` or a column. */
export function textsOfField(name: string, edges: readonly RetrievedEdge[]): string[] {
  const texts: string[] = [];
  for (const edge of edges) {
    if (name === 'formation' && edge.formation !== null) texts.push(edge.formation);
    for (const [column, value] of Object.entries(edge.properties)) {
      if (column.toLowerCase() === name && value !== null && typeof value !== 'number') texts.push(String(value));
    }
  }
  return texts;
}

/** Texts longer than this in total are not searched for names. */
const MOST_NAMED_CHARACTERS = 200_000;

/** The texts in lower case; undefined if they are too long in total. */
function namedText(texts: readonly string[]): string | undefined {
  const length = texts.reduce((sum, text) => sum + text.length + 1, 0);
  return length > MOST_NAMED_CHARACTERS ? undefined : folded(texts.join('|')).toLowerCase();
}

function plainTexts({ edges, steps, rules }: CitedThings): string[] {
  const texts: string[] = [];
  for (const edge of edges) texts.push(...storedTexts(edge));
  for (const step of steps) {
    texts.push(step.fact, step.predicate, step.rule_id);
    for (const arg of step.args) if (typeof arg === 'string') texts.push(arg);
  }
  for (const rule of rules) texts.push(rule.id, rule.name, rule.text);
  return texts;
}

/** Whether `values` (ascending) contains a number in `low`..`high`, both included. */
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
