// Checks that values stated about one event come from one event. A sentence must not mix values
// from several edges or steps that it cites side by side.
//
// For example, "Nodes 3 and 4 met [HEDGE-1] [HEDGE-2]" needs one edge, or one step, that contains
// both nodes. In these cases the values may come from several edges or steps:
// - Each clause agrees with one of them ("... at noon, and nodes 1 and 4 met later").
// - Each of the other members meets the first one somewhere ("Node 1 met nodes 2 and 4").
// - There is a path from member to member ("from 3 through 1 to 4").
// - There are several times, or several values of one field, and for each value there is an edge
//   with this value and all the members ("met at 10:00 and 11:00").
// - Members and values are only listed ("appear in hyperedges 1 and 3"). The sentence does not
//   state that they belong together.

import { problemOf, repeatedIn, timeAgrees } from './claims.ts';
import { type Cited, hasBetween, type Values } from './edge-values.ts';
import { countsCited, durationUnit } from './field-words.ts';
import type { KeyPlace } from './key-claims.ts';
import { folded } from './lookalikes.ts';
import { isOneOf, type NumberClaim } from './number-claims.ts';
import { formatTag, type Tag } from './tags.ts';

/** Maximum number of edges and steps that are tried as the only source of the values. */
const MOST_UNITS = 64;
const PROBLEM = 'nothing that it cites holds these values together';
/** Words that join members into one event. */
const JOINING =
  /\b(?:met|meet(?:s|ing)?|with|together|joint(?:ly)?|join(?:s|ed)|shar(?:e|es|ed|ing)|link(?:s|ed)?|co-?occur\w*|contact(?:s|ed)?|talk(?:s|ed)?|each other|one another|same|knows?|knew|collaborat\w*|interact\w*|connect\w*|paired|between|both at)\b/i;
/** Words that only list members. */
const LISTING =
  /\b(?:respectively|each|every|separate(?:ly)?|appear(?:s|ed|ing)?|occur(?:s|red)?|participat\w*|took part|involv\w*|active|seen|present|record(?:s|ed)|listed|mentioned|named|among|across|includ\w*|contain\w*|total|altogether|overall|hyperedges? \d|events? \d|edges? \d)\b/i;
const WAY = /\b(?:through|via|then|after that|followed|chain|path|way|reach(?:es|ed)?|from|indirect(?:ly)?|passing)\b/i;
const CLAUSE =
  /;|[,\u2014\u2013](?:\s*(?:and|but|while|whereas|then))?\s+(?=(?:nodes?|members?|at|on|the|hyperedges?|events?|both|later|then)\b)|\s(?:and|but|while|whereas|then)\s+(?=(?:nodes?|members?|the|hyperedges?|events?|later|then|at)\b)/gi;
const LIST_GAP = /^["'\])*_`]*\s*(?:[,;&/+]|and|or|,\s*(?:and|or))\s*(?:nodes?\s+)?["'[(*_`]*$/i;

/**
 * Returns the reason to strip a part of a sentence that mixes values from several edges or steps,
 * although it agrees with all of its tags taken together. Returns undefined if there is none.
 */
export function mixtureProblem(
  text: string,
  tags: readonly Tag[],
  cited: Cited,
  valuesOf: (tags: readonly Tag[]) => Values,
): string | undefined {
  const units = new Map(tags.filter(({ kind }) => kind !== 'RULE').map((tag) => [formatTag(tag), tag]));
  if (units.size < 2) return undefined;
  const said = saidIn(text, cited);
  if (said === undefined || said.members.length + said.others.length < 2) return undefined;
  if (said.members.length === 0 && new Set(said.others.map(({ kind }) => kind)).size < 2) return undefined;
  if (LISTING.test(text) && !JOINING.test(text)) return undefined;
  const rules = tags.filter(({ kind }) => kind === 'RULE');
  const single = [...units.values()].slice(0, MOST_UNITS).map((unit) => valuesOf([unit, ...rules]));
  const agreesWithOne = (part: string) => single.some((beside) => problemOf(part, { ...cited, beside }) === undefined);
  if (agreesWithOne(text)) return undefined;
  if (said.members.length > 0 && isSpread(text, said, single)) return undefined;
  const clauseAgrees = (clause: string) => {
    const inClause = saidIn(clause, cited);
    if (inClause === undefined) return false;
    const count = inClause.members.length + inClause.others.length;
    // A clause with a single value may be half of a claim: "between node 3 | and node 4 there is a
    // link".
    return count === 0 || (count === 1 ? LISTING.test(clause) : agreesWithOne(clause));
  };
  const clauses = text.split(CLAUSE);
  return clauses.length > 1 && clauses.every(clauseAgrees) ? undefined : PROBLEM;
}

/** The values that a text states. */
interface Said {
  /** Distinct members, in order of first mention: numbers, or keys in comparable form. */
  members: (number | string)[];
  /** Whether the first member is not part of a list. */
  isFirstAlone: boolean;
  /** Other values. `kind` is the field's name, `holds` returns whether `values` have the value. */
  others: { kind: string; holds(values: Values): boolean }[];
}

/**
 * Returns the values that a text states, or undefined if the text must be stripped regardless of
 * them.
 */
function saidIn(text: string, cited: Cited): Said | undefined {
  const repeated = repeatedIn(folded(text), cited);
  if (typeof repeated === 'string') return undefined;
  const { numbers, times, masked, keys } = repeated;
  const said: Said = { members: [], isFirstAlone: true, others: [] };
  addKeys(said, keys, folded(text), cited.beside);
  const isList = (left: NumberClaim | undefined, right: NumberClaim | undefined) =>
    left !== undefined && right !== undefined && LIST_GAP.test(masked.slice(left.token.end, right.token.start));
  let listField: string | undefined;
  for (const [index, claim] of numbers.entries()) {
    const found = memberNumbers(claim, masked, cited.beside);
    if (found.length > 0 && said.members.length === 0)
      said.isFirstAlone = found.length === 1 && !isList(claim, numbers[index + 1]);
    for (const member of found) if (!said.members.includes(member)) said.members.push(member);
    listField = claim.field ?? (isList(numbers[index - 1], claim) ? listField : undefined);
    const { token, bound } = claim;
    const isSeconds = listField === undefined && found.length === 0 && isOneOf(token, cited.beside.field('event_ts'));
    const field = isSeconds ? 'event_ts' : listField;
    if (field !== undefined && !PLACES.has(field) && bound === 'equal')
      said.others.push({ kind: field, holds: (values) => isOneOf(token, values.field(field), { approximate: true }) });
  }
  for (const time of times) {
    if (time.bound === 'equal') said.others.push({ kind: 'event_ts', holds: (values) => timeAgrees(time, values) });
  }
  return said;
}

/** Adds the members that a text names by key. */
function addKeys(said: Said, keys: readonly KeyPlace[], text: string, beside: Values): void {
  const known = keys.filter(({ key }) => beside.memberSets().some((set) => set.has(key)));
  for (const { key } of known) if (!said.members.includes(key)) said.members.push(key);
  const [first, second] = known;
  if (first !== undefined && second !== undefined)
    said.isFirstAlone = !LIST_GAP.test(text.slice(first.end, second.start));
}

/** Fields that identify a member, edge, step or rule, or that describe a whole edge or step. */
const PLACES: ReadonlySet<string> = new Set(['member', 'id', 'step', 'rule', 'size', 'confidence']);

function memberNumbers({ token, field }: NumberClaim, text: string, values: Values): number[] {
  if (field !== undefined && field !== 'member') return [];
  const after = text.slice(token.end, token.end + 60);
  const isOther = token.word || token.percent || token.ordinal || durationUnit(after) !== undefined;
  if (field === undefined && (isOther || countsCited(after))) return [];
  const known = (value: number) =>
    hasBetween(values.field('member'), value, value) || hasBetween(values.field('arg'), value, value);
  const tokens = token.parts.length > 0 ? token.parts : [token];
  return tokens.flatMap(({ readings }) => readings.map(({ value }) => value).find(known) ?? []);
}

function isSpread(text: string, { members, isFirstAlone, others }: Said, single: readonly Values[]): boolean {
  const meets = (a: number | string, b: number | string) => single.some((values) => holdsAll(values, [a, b]));
  const [first, ...rest] = members as [number | string, ...(number | string)[]];
  if (others.length !== 1) {
    if (isFirstAlone && rest.length > 1 && rest.every((other) => meets(first, other))) return true;
    if (WAY.test(text) && rest.length > 0 && isConnected(members, meets)) return true;
  }
  if (others.length < 2 || others.some(({ kind }) => kind !== others[0]!.kind)) return false;
  return others.every(({ holds }) => single.some((values) => holdsAll(values, members) && holds(values)));
}

/** Returns whether one edge, or the arguments of one step, contain all the members. */
function holdsAll(values: Values, members: readonly (number | string)[]): boolean {
  return values.memberSets().some((set) => members.every((member) => set.has(member)));
}

function isConnected<Node>(members: readonly Node[], meets: (a: Node, b: Node) => boolean): boolean {
  const reached = new Set(members.slice(0, 1));
  for (const from of reached) {
    for (const to of members) if (!reached.has(to) && meets(from, to)) reached.add(to);
  }
  return reached.size === members.length;
}
