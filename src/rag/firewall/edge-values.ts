// The values that the tags of one group stand for: what a number, a time or a quoted text beside them must be one of.

import type { RuleFact, StepFact } from '../derived-fact.ts';
import { holdsWord, keywordStem } from '../retrieval/keyword-match.ts';
import type { RetrievedEdge } from '../retrieval/retrieved-edge.ts';
import { shownText } from '../stored-text.ts';
import { comparable, folded } from './lookalikes.ts';
import { parseTagName, type Tag } from './tags.ts';
import { storedTexts, type Told, toldBy } from './told.ts';

/** Steps by number. */
export interface StepFacts {
  has(number: number): boolean;
  get(number: number): StepFact | undefined;
  /** Their facts. */
  values(): Iterable<Pick<StepFact, 'predicate' | 'args'>>;
}

/** Everything the sentences of one answer may cite, by number. */
export interface Support {
  readonly edges: ReadonlyMap<number, RetrievedEdge>;
  readonly steps: StepFacts;
  readonly rules: ReadonlyMap<number, RuleFact>;
  /** Of nodes, where a table keeps them. */
  readonly names?: ReadonlyMap<number, string> | undefined;
}

export interface Values {
  /** The cited edges and those the cited steps rest on. */
  readonly edges: readonly RetrievedEdge[];
  readonly citedEdges: number;
  readonly steps: readonly StepFact[];
  readonly rules: readonly RuleFact[];
  /** Ascending values of a field (`member`, `weight`, a column in lower case, ...); none of an unknown one. */
  field(name: string): Float64Array;
  /** Columns of the edges, in lower case. */
  columns(): ReadonlySet<string>;
  /** Whether the cited edges have such a field. */
  hasField(name: string): boolean;
  /** Fields which are null in all of the edges. */
  isEmpty(name: string): boolean;
  /** All of them that may stand alone, without being named. */
  all(): Float64Array;
  /** Stored texts and names of rules and predicates, as `comparable` makes them. */
  texts(): ReadonlySet<string>;
  /** What the texts of the edges say. */
  told(): Told;
  /** Whether anything that is cited has this word, names of columns and rules too. */
  knows(word: string): boolean;
  /** What may be counted of members: an edge's, all edges' together, those that all edges share. */
  memberCounts(): readonly number[];
}

/** Built-in fields by the name under which they are kept. */
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
  return readerOf([...edges.values()], citedEdges, [...steps], [...rules], [...names]);
}

function readerOf(
  edges: RetrievedEdge[],
  citedEdges: number,
  steps: StepFact[],
  rules: RuleFact[],
  names: readonly string[],
): Values {
  const fields = new Map<string, Float64Array>();
  let columns: ReadonlySet<string> | undefined;
  let every: Float64Array | undefined;
  let texts: ReadonlySet<string> | undefined;
  let memberCounts: readonly number[] | undefined;
  let told: Told | undefined;
  let everything: string | undefined;
  const columnsOf = () =>
    (columns ??= new Set(edges.flatMap((edge) => Object.keys(edge.properties).map((name) => name.toLowerCase()))));
  const textsOnce = () => (texts ??= new Set([...textsOf(edges, steps, rules), ...names].map(comparable)));
  const field = (name: string): Float64Array => {
    let values = fields.get(name);
    if (values === undefined) {
      values = ascending(numbersOf(name, edges, steps, rules));
      fields.set(name, values);
    }
    return values;
  };
  return {
    edges,
    citedEdges,
    steps,
    rules,
    field,
    columns: columnsOf,
    told: () => (told ??= toldBy(edges, names)),
    knows: (word) => {
      everything ??= namedText([...plainTexts(edges, steps, rules), ...names, ...columnsOf()]);
      return everything === undefined || holdsWord(everything, keywordStem(comparable(word)));
    },
    memberCounts: () => (memberCounts ??= countsOfMembers(edges)),
    hasField: (name) => FIELDS.has(name) || name === 'formation' || columnsOf().has(name),
    isEmpty: (name) => edges.length > 0 && field(name).length === 0 && textsOfField(name, edges).length === 0,
    all: () => (every ??= everyNumber(field, columnsOf(), edges)),
    texts: textsOnce,
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

function numbersOf(
  name: string,
  edges: readonly RetrievedEdge[],
  steps: readonly StepFact[],
  rules: readonly RuleFact[],
): number[] {
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
  const names = [
    'id',
    'event_ts',
    'member',
    'size',
    'weight',
    'mean_dist_m',
    'confidence',
    'arg',
    'rule text',
    ...columns,
  ];
  const numbers = names.flatMap((name) => [...field(name)]);
  for (const { event_ts } of edges) {
    const date = new Date(event_ts * 1000);
    const year = date.getUTCFullYear();
    numbers.push(event_ts * 1000, year, year * 10_000 + (date.getUTCMonth() + 1) * 100 + date.getUTCDate());
  }
  return ascending(numbers.filter((value) => !Number.isNaN(value)));
}

/** Stored texts of one field; `formation` and columns. */
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

/** Longer texts together are not looked through for names. */
const MOST_NAMED_CHARACTERS = 200_000;

/** In lower case; undefined where it would be too long. */
function namedText(texts: readonly string[]): string | undefined {
  const length = texts.reduce((sum, text) => sum + text.length + 1, 0);
  return length > MOST_NAMED_CHARACTERS ? undefined : folded(texts.join('|')).toLowerCase();
}

function textsOf(edges: readonly RetrievedEdge[], steps: readonly StepFact[], rules: readonly RuleFact[]): string[] {
  // As they are stored, and as the context shows them.
  return plainTexts(edges, steps, rules).flatMap((text) => [text, shownText(text)]);
}

function plainTexts(edges: readonly RetrievedEdge[], steps: readonly StepFact[], rules: readonly RuleFact[]): string[] {
  const texts: string[] = [];
  for (const edge of edges) texts.push(...storedTexts(edge));
  for (const step of steps) {
    texts.push(step.fact, step.predicate, step.rule_id);
    for (const arg of step.args) if (typeof arg === 'string') texts.push(arg);
  }
  for (const rule of rules) texts.push(rule.id, rule.name, rule.text);
  return texts;
}

/** Whether `values` (ascending) have one in `low`..`high`, both included. */
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
