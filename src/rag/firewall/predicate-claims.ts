// Checks facts written as `pred(args)`: they must be facts of the cited steps or follow from the
// cited edges.

import { factText } from '../../rules/index.ts';
import { shownConstant } from '../stored-text.ts';
import type { Claim } from './claims.ts';
import { hasBetween, type Values } from './edge-values.ts';
import { comparable } from './lookalikes.ts';

/** Longer calls are not matched. */
const CALL = /(?<![\p{L}\p{N}_])([A-Za-z_][A-Za-z0-9_]{0,99})\(((?:"(?:[^"\\]|\\.){0,500}"|[^()"]){0,2000})\)/gu;

/** A canonical spelling of a fact, with its texts as they are shown: `close(3,9)`. */
export function factKey(predicate: string, args: readonly (number | string | boolean)[]): string {
  return comparable(factText(predicate, args.map(shownConstant))).replace(/,\s+/g, ',');
}

export function predicateClaims(text: string, cited: Values, derives: (fact: string) => boolean): Claim[] {
  if (!text.includes('(')) return [];
  const facts = new Set(cited.steps.map((step) => factKey(step.predicate, step.args)));
  const claims: Claim[] = [];
  for (const match of text.matchAll(CALL)) {
    const [call, predicate, list] = match as unknown as [string, string, string];
    if (/^(?:s|es|e?n)$/.test(list)) continue; // a plural, such as node(s)
    const args = argsOf(list);
    const key = factKey(predicate, args);
    const agrees = facts.has(key) || isOfRule(call, cited) || isOfEdge(predicate, args, cited);
    claims.push({
      start: match.index,
      end: match.index + call.length,
      agrees,
      holds: agrees || derives(key),
      kind: 'value',
      wrong: `${call.length > 60 ? `${predicate}(...)` : call} is no fact of what is cited`,
    });
  }
  return claims;
}

/** The arguments as a model may write them: texts with or without quotes. */
function argsOf(list: string): (number | string | boolean)[] {
  const args: (number | string | boolean)[] = [];
  for (const match of list.matchAll(/\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^,]+))\s*(?:,|$)/g)) {
    const bare = match[3]?.trim();
    if (bare === undefined) args.push((match[1] ?? match[2] ?? '').replace(/\\(.)/g, '$1'));
    else if (/^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(bare)) args.push(Number(bare));
    else if (bare === 'true' || bare === 'false') args.push(bare === 'true');
    else args.push(bare);
  }
  return args;
}

/** Whether it is an atom of a cited rule, as written there. */
function isOfRule(call: string, cited: Values): boolean {
  const plain = comparable(call).replace(/,\s+/g, ',');
  return call.includes('?') && cited.rules.some((rule) => comparable(rule.text).replace(/,\s+/g, ',').includes(plain));
}

/**
 * Whether it is a base fact of a cited edge: `member(12, 3)`, `at(12, 1700000000)`, `formation(12,
 * "escort")`.
 */
function isOfEdge(predicate: string, args: readonly (number | string | boolean)[], cited: Values): boolean {
  const edge = cited.edges.find((candidate) => candidate.edge_id === args[0]);
  if (edge === undefined) return false;
  const [, first, second] = args;
  if (predicate === 'hyperedge') return args.length === 1;
  if (predicate === 'member')
    return args.length === 2 && typeof first === 'number' && hasBetween(Float64Array.from(edge.members), first, first);
  if (predicate === 'at') return args.length === 2 && edge.event_ts === first;
  if (predicate === 'weight') return args.length === 2 && edge.weight === first;
  if (predicate === 'mean_dist') return args.length === 2 && edge.mean_dist_m === first;
  if (predicate === 'formation') return args.length === 2 && edge.formation === first;
  if (predicate === 'size') return args.length === 2 && edge.members.length === first;
  if (predicate !== 'property' || args.length !== 3 || second === undefined) return false;
  return Object.hasOwn(edge.properties, String(first)) && edge.properties[String(first)] === second;
}
