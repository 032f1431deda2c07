// Checks facts in a sentence that are written as `pred(args)`. Such a fact must be a cited step, a
// base fact about a cited edge, or an atom of a cited rule.

import { supersededBy } from '../../model/memories.ts';
import { type Constant, factText } from '../../rules/index.ts';
import { shownConstant } from '../stored-text.ts';
import type { Claim } from './claims.ts';
import { type Cited, FIELDS, type Values } from './edge-values.ts';
import { isOfNode } from './key-claims.ts';
import { comparable } from './lookalikes.ts';

/** Matches a fact. Very long facts are not matched. */
const CALL = /(?<![\p{L}\p{N}_])([A-Za-z_][A-Za-z0-9_]{0,99})\(((?:"(?:[^"\\]|\\.){0,500}"|[^()"]){0,2000})\)/gu;

/** Returns the canonical spelling of a fact, with texts as they are shown: `close(3,9)`. */
export function factKey(predicate: string, args: readonly Constant[]): string {
  return closed(factText(predicate, args.map(shownConstant)));
}

function closed(call: string): string {
  return comparable(call).replace(/,\s+/g, ',');
}

export function predicateClaims(text: string, { sentence, derives, keyed }: Cited): Claim[] {
  if (!text.includes('(')) return [];
  const facts = new Set(sentence.steps.map((step) => factKey(step.predicate, step.args)));
  const claims: Claim[] = [];
  for (const { 0: call, 1: predicate, 2: list, index: start } of text.matchAll(CALL)) {
    if (/^(?:s|es|e?n)$/.test(list!)) continue; // a plural, such as node(s)
    const args = argsOf(list!);
    const key = factKey(predicate!, args);
    const agrees =
      facts.has(key) ||
      isOfRule(call, sentence) ||
      isOfEdge(predicate!, args, sentence) ||
      isOfNode(predicate!, args, sentence, keyed);
    const wrong = `${call.length > 60 ? `${predicate}(...)` : call} is not a cited fact`;
    claims.push({ start, end: start + call.length, agrees, holds: agrees || derives(key), kind: 'value', wrong });
  }
  return claims;
}

/** Parses the arguments as a model may write them, with or without quotation marks. */
function argsOf(list: string): Constant[] {
  const args: Constant[] = [];
  for (const match of list.matchAll(/\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^,]+))\s*(?:,|$)/g)) {
    const bare = match[3]?.trim();
    if (bare === undefined) args.push((match[1] ?? match[2] ?? '').replace(/\\(.)/g, '$1'));
    else if (/^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(bare)) args.push(Number(bare));
    else if (bare === 'true' || bare === 'false') args.push(bare === 'true');
    else args.push(bare);
  }
  return args;
}

/** Returns whether the text is an atom with variables that a cited rule contains. */
function isOfRule(call: string, { rules }: Values): boolean {
  return call.includes('?') && rules.some((rule) => closed(rule.text).includes(closed(call)));
}

/** Predicates of base facts about edges, and the field that each is about. */
const FIELD_OF: ReadonlyMap<string, string> = new Map([
  ...['member', 'weight', 'formation', 'size'].map((name) => [name, name] as const),
  ['at', 'event_ts'],
  ['until', 'end_ts'],
  ['mean_dist', 'mean_dist_m'],
]);

/** Returns whether a fact is a base fact about a cited edge, such as `member(12, 3)`. */
function isOfEdge(predicate: string, args: readonly Constant[], { edges }: Values): boolean {
  const [id, first, second] = args;
  const edge = edges.find(({ edge_id }) => edge_id === id);
  if (edge === undefined) return false;
  if (predicate === 'hyperedge') return args.length === 1;
  if (predicate === 'property')
    return (
      args.length === 3 && Object.hasOwn(edge.properties, String(first)) && edge.properties[String(first)] === second
    );
  if (predicate === 'supersedes') return args.length === 2 && first !== undefined && supersededBy(edge) === first;
  if (predicate === 'role')
    return (
      args.length === 3 &&
      Object.entries(edge.roles ?? {}).some(([role, nodes]) => role === second && holds(nodes, first))
    );
  const field = FIELD_OF.get(predicate);
  if (field === undefined || args.length !== 2) return false;
  const values = FIELDS.get(field)!(edge);
  return field === 'member' ? holds(values, first) : values.includes(first as number);
}

/** Returns whether members contain a node. Keys are compared without regard to case. */
function holds(members: readonly unknown[], node: Constant | undefined): boolean {
  if (typeof node !== 'string') return members.includes(node);
  return members.some((member) => typeof member === 'string' && comparable(member) === comparable(node));
}
