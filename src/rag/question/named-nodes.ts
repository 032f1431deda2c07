// Recognises the nodes that a text names: "node 12", "nodes 3, 4 and 5", "member #7".

import { unitOf } from './calendar.ts';
import { isStopWord } from './keywords.ts';
import type { AskedNodes, KeyMention } from './question.ts';
import { freeWord, isWord, numberAt, putAside, type Reading, take } from './words.ts';

const NODE_WORDS = [
  'node',
  'nodes',
  'member',
  'members',
  'vertex',
  'vertices',
  'node_id',
  'node_ids',
  'nodeid',
  'nodeids',
];
const BETWEEN = ['id', 'ids', 'number', 'numbers', 'no', 'is', 'are', '=', '==', ':', '#', '[', '(', '{'];
const NOT_LEFT_OUT = 'Nodes cannot be left out; name those that are meant.';
const EXCLUDING = ['without', 'not', 'except', 'excluding', 'no'];
/** Maximum number of nodes in a question. */
export const MOST_NODES = 64;
/** Words that show that the number before them is not a node. */
const COUNTED = /^(edges?|hyperedges?|events?|results?|rows?|times?|meetings?|entries|most|latest|newest|am|pm)$/;
const MONTH = /^(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)/;

export interface NamedNodes {
  /** Distinct nodes in ascending order. */
  readonly nodes: number[];
  /**
   * The nodes by mention: one that has several nodes means any of them. Only for named tables.
   */
  readonly groups: readonly (readonly number[])[] | undefined;
  /** Integers that are the key of no node, by the negative numbers that stand for them. */
  readonly unknown: ReadonlyMap<number, number>;
  /** The words that name them, as ranges of indexes, in the order of the text. */
  readonly spans: readonly { readonly from: number; readonly to: number }[];
}

/** Reads all nodes and marks their words as taken. */
export function readNodes(reading: Reading, named?: AskedNodes): NamedNodes {
  if (named === undefined) return { ...readNumbers(reading, []), groups: undefined, unknown: new Map() };
  // "Room number 7" may be a key.
  const keyed = readMentions(reading, named.mentions);
  return withIntegers(keyed, readNumbers(reading, named.kindWords), named);
}

/** Reads the nodes that are named by numbers. `kindWords` are further words for nodes. */
function readNumbers(reading: Reading, kindWords: readonly string[]): Pick<NamedNodes, 'nodes' | 'spans'> {
  const nodeWords = [...NODE_WORDS, ...kindWords];
  const nodes = new Set<number>();
  const spans: { from: number; to: number }[] = [];
  for (let at = 0; at < reading.words.length; at++) {
    const begin = listAt(reading, at, nodeWords);
    if (begin === undefined) continue;
    const list = readList(
      reading,
      begin,
      freeWord(reading, at)!.lower.endsWith('s') || isWord(reading, at, 'vertices'),
    );
    if (list.end === begin) continue;
    if (isWord(reading, at - 1, ...EXCLUDING)) {
      putAside(reading, at - 1, list.end, NOT_LEFT_OUT);
      continue;
    }
    if (list.wrong !== undefined) putAside(reading, at, list.end, list.wrong);
    else if (nodes.size + list.nodes.length > MOST_NODES && over(nodes, list.nodes))
      putAside(reading, at, list.end, `A question names at most ${MOST_NODES} nodes.`);
    else {
      take(reading, at, list.end);
      for (const node of list.nodes) nodes.add(node);
      spans.push({ from: at, to: list.end });
    }
    at = list.end - 1;
  }
  return { nodes: [...nodes].sort((a, b) => a - b), spans };
}

interface Mentioned {
  readonly groups: readonly (readonly number[])[];
  readonly spans: NamedNodes['spans'];
}

/** Reads the nodes whose keys occur in the text. */
function readMentions(reading: Reading, mentions: readonly KeyMention[]): Mentioned {
  const groups: (readonly number[])[] = [];
  const spans: { from: number; to: number }[] = [];
  const nodes = new Set<number>();
  for (const mention of mentions) {
    const { from, to, numbers } = mention;
    const words = reading.words.slice(from, to);
    if (words.some(({ taken }) => taken) || isOtherWord(reading, mention)) continue;
    if (isWord(reading, from - 1, ...EXCLUDING)) putAside(reading, from - 1, to, NOT_LEFT_OUT);
    else if (nodes.size + numbers.length > MOST_NODES && over(nodes, numbers))
      putAside(reading, from, to, `A question names at most ${MOST_NODES} nodes.`);
    else {
      take(reading, from, to);
      groups.push(numbers);
      for (const number of numbers) nodes.add(number);
      spans.push({ from, to });
    }
  }
  return { groups, spans };
}

/**
 * Adds the nodes that have integers as keys. An integer without a node becomes a number that no
 * node has.
 */
function withIntegers(
  { groups, spans }: Mentioned,
  numbered: Pick<NamedNodes, 'nodes' | 'spans'>,
  { numbersOf }: AskedNodes,
): NamedNodes {
  const unknown = new Map<number, number>();
  const added = numbered.nodes.map((integer) => {
    const numbers = numbersOf(integer);
    if (numbers.length > 0) return numbers;
    unknown.set(-1 - unknown.size, integer);
    return [-unknown.size];
  });
  const all = [...groups, ...added];
  return {
    nodes: [...new Set(all.flat())].sort((a, b) => a - b),
    spans: [...spans, ...numbered.spans].sort((a, b) => a.from - b.from),
    groups: all,
    unknown,
  };
}

/**
 * Returns whether a word that is a key more probably has its usual meaning: a number or date, which
 * names a node only in quotation marks (or, if it is an integer, after a word for nodes), a
 * punctuation mark, and a stop word, unless it is spelled exactly as the key, with a capital,
 * within the text.
 */
function isOtherWord({ words }: Reading, { from, to, isExact }: KeyMention): boolean {
  if (to > from + 1) return false;
  const { kind, text, lower } = words[from]!;
  if (kind === 'quoted') return false;
  if (kind !== 'word') return kind !== 'sign' || /^[ -~]+$/.test(text);
  return isStopWord(lower) && !(isExact && from > 0 && text !== lower);
}

function over(nodes: ReadonlySet<number>, more: readonly number[]): boolean {
  return new Set([...nodes, ...more]).size > MOST_NODES;
}

/**
 * Returns the index of the first number after a word for nodes, or `at` itself for a word such as
 * `node12`.
 */
function listAt(reading: Reading, at: number, nodeWords: readonly string[]): number | undefined {
  const joined = /^(?:node|member|vertex)_?\d+$/.test(freeWord(reading, at)?.lower ?? '');
  if (joined) return at;
  if (!isWord(reading, at, ...nodeWords)) return undefined;
  let next = at + 1;
  for (let steps = 0; steps < 4 && isWord(reading, next, ...BETWEEN); steps++) next++;
  const word = freeWord(reading, next);
  return word?.kind === 'number' || (word?.kind === 'quoted' && /^-?\d+$/.test(word.text)) ? next : undefined;
}

interface NodeList {
  readonly nodes: number[];
  readonly end: number;
  readonly wrong: string | undefined;
}

const LINKS = [',', ';', 'and', 'or', '&', '/', '+', '&&'];

/**
 * Reads a list of nodes. If `isMany` is true, numbers separated only by blanks also form a list.
 */
function readList(reading: Reading, begin: number, isMany: boolean): NodeList {
  const nodes: number[] = [];
  let wrong: string | undefined;
  let at = begin;
  for (;;) {
    const word = freeWord(reading, at)!;
    const grouped = groupedAt(reading, at, isMany);
    const digits = word.kind === 'word' ? /\d+$/.exec(word.text)![0] : word.text;
    const node = grouped?.value ?? Number(digits) + 0;
    const isInteger = grouped !== undefined || /^[+-]?\d+$/.test(digits);
    if (!isInteger || !Number.isSafeInteger(node)) wrong ??= NO_NODE;
    nodes.push(node);
    at = grouped?.end ?? at + 1;
    const rangeEnd = rangeAt(reading, at);
    if (rangeEnd > at) {
      wrong ??= 'Nodes are named one by one: nodes 3, 4 and 5.';
      at = rangeEnd;
    }
    const next = nextNumber(reading, at, isMany);
    if (next === undefined) break;
    at = next;
  }
  if (isWord(reading, at, ']', ')', '}') && isWord(reading, begin - 1, '[', '(', '{')) at++;
  return { nodes, end: at, wrong };
}

const NO_NODE = 'A node id is an integer of at most 2^53-1.';

/**
 * Returns a number whose digits commas divide into groups: of one node (`node 1,234`), or if a
 * group begins with 0 (`nodes 1,000 and 3`). `nodes 3,400` are two nodes.
 */
function groupedAt(reading: Reading, at: number, isMany: boolean): { value: number; end: number } | undefined {
  const number = numberAt(reading, at);
  if (number === undefined || number.end === at + 1) return undefined;
  const groups = reading.words.slice(at + 1, number.end);
  return isMany && !groups.some(({ text }) => text.startsWith('0')) ? undefined : number;
}

/** Returns the end of a range such as `-7` or `to 7` after a node, or `at` if there is none. */
function rangeAt(reading: Reading, at: number): number {
  const isDash = freeWord(reading, at)?.text === '-' && freeWord(reading, at)!.glued;
  if (!isDash && !isWord(reading, at, 'to', '..', 'through')) return at;
  return isNode(reading, at + 1) ? at + 2 : at;
}

/** Returns the index of the next number in a list. */
function nextNumber(reading: Reading, from: number, isMany: boolean): number | undefined {
  let at = from;
  for (let steps = 0; steps < 2 && isWord(reading, at, ...LINKS); steps++) at++;
  if (at === from && !isMany) return undefined;
  if (isWord(reading, at, '#')) at++;
  return isNode(reading, at) ? at : undefined;
}

/** Returns whether the number at an index is a node, rather than a count or part of a date. */
function isNode(reading: Reading, at: number): boolean {
  const word = freeWord(reading, at);
  if (word?.kind !== 'number') return false;
  const next = freeWord(reading, at + 1);
  if (next === undefined || next.kind !== 'word') return true;
  return !next.glued && unitOf(next.lower) === undefined && !COUNTED.test(next.lower) && !MONTH.test(next.lower);
}
