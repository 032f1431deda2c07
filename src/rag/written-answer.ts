// Writes an answer without a model. It consists of tagged sentences about the derived facts or, if
// there are no facts, about the retrieved edges.

import { HEDGES_SHOWN, shownFact } from './context.ts';
import type { RuleFact, StepFact } from './derived-fact.ts';
import { ABSTAINED_ANSWER } from './firewall/firewall.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';
import { NAME_SHOWN, quotedText, shownMember } from './stored-text.ts';

const FACTS_WRITTEN = 20;
export const EDGES_WRITTEN = 5;
const MEMBERS_WRITTEN = 8;

/** Returns the columns whose texts are quoted in the sentence about an edge. */
export type Quoted = (edge: RetrievedEdge) => readonly string[];
const QUOTES_NOTHING: Quoted = () => [];

/**
 * Writes the answer. `edges` are ordered best first. All sentences pass the firewall. If there are
 * neither facts nor edges, the answer is ABSTAINED_ANSWER.
 */
export function writtenAnswer(
  facts: readonly StepFact[],
  rules: readonly RuleFact[],
  edges: readonly RetrievedEdge[],
  quoted: Quoted = QUOTES_NOTHING,
): string {
  if (facts.length > 0) return aboutFacts(facts, rules);
  return edges.length > 0 ? aboutEdges(edges, quoted) : ABSTAINED_ANSWER;
}

function aboutFacts(facts: readonly StepFact[], rules: readonly RuleFact[]): string {
  const names = new Map(rules.map((rule) => [rule.rule_tag, rule.name.trim() || rule.id]));
  const sentences = facts.slice(0, FACTS_WRITTEN).map((fact) => {
    const count = fact.hedge_tags.length;
    const from = count === 0 ? '' : `, from ${count} ${count === 1 ? 'hyperedge' : 'hyperedges'}`;
    const name = names.get(fact.rule_tag) ?? fact.rule_id;
    const tags = [fact.rule_tag, fact.step_tag, ...fact.hedge_tags.slice(0, HEDGES_SHOWN)].map((tag) => `[${tag}]`);
    const subject = shownFact(fact.predicate, fact.args);
    return `${subject} holds with confidence ${fact.confidence} by the rule ${quotedText(name, NAME_SHOWN)}${from} ${tags.join(' ')}.`;
  });
  if (facts.length > FACTS_WRITTEN) {
    const last = facts.at(-1)!.step_tag;
    sentences.push(`More facts were derived, up to step ${last.slice('STEP-'.length)} [${last}].`);
  }
  return sentences.join(' ');
}

/** Returns the sentence about an edge, with the first text in some columns. */
export function edgeSentence(edge: RetrievedEdge, columns: readonly string[]): string {
  const time = `at ${timeOf(edge)}${untilOf(edge)}`;
  return `Hyperedge ${edge.edge_id} links ${membersOf(edge)} ${time}${textOf(edge, columns)} [${edge.hedge_tag}].`;
}

function aboutEdges(edges: readonly RetrievedEdge[], quoted: Quoted): string {
  const sentences = edges.slice(0, EDGES_WRITTEN).map((edge) => edgeSentence(edge, quoted(edge)));
  if (edges.length === 1) return sentences[0]!;
  const inTime = [...edges].sort((a, b) => a.event_ts - b.event_ts || a.edge_id - b.edge_id);
  const first = inTime[0]!;
  const last = inTime.at(-1)!;
  if (edges.length <= HEDGES_SHOWN) {
    const tags = edges.map((edge) => `[${edge.hedge_tag}]`).join(' ');
    sentences.unshift(
      `Found ${edges.length} hyperedges, the earliest at ${timeOf(first)} and the latest at ${timeOf(last)} ${tags}.`,
    );
  } else {
    sentences.unshift(
      `The earliest hyperedge found is at ${timeOf(first)} [${first.hedge_tag}], the latest at ${timeOf(last)} [${last.hedge_tag}].`,
    );
  }
  return sentences.join(' ');
}

/** Returns when an edge with an interval ends, as a part of a sentence. */
function untilOf({ end_ts }: RetrievedEdge): string {
  return end_ts == null ? '' : ` until ${timeOf({ event_ts: end_ts })}`;
}

/** Returns the first text of an edge in some columns, as the end of a sentence. */
function textOf({ properties }: RetrievedEdge, columns: readonly string[]): string {
  const text = columns.map((name) => properties[name]).find((value) => typeof value === 'string' && value !== '');
  return text === undefined ? '' : ` with the text ${quotedText(String(text))}`;
}

export function membersOf({ members }: Pick<RetrievedEdge, 'members'>): string {
  if (members.length === 1) return `node ${shownMember(members[0]!)} alone`;
  const shown = members.slice(0, MEMBERS_WRITTEN).map(shownMember);
  const more = members.length - shown.length;
  if (more > 0) return `nodes ${shown.join(', ')} and ${more} more`;
  return `nodes ${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/**
 * Writes the time of an edge: ISO 8601 for whole seconds in years with four digits, otherwise the
 * raw seconds.
 */
export function timeOf({ event_ts: seconds }: Pick<RetrievedEdge, 'event_ts'>): string {
  const isUsual = seconds >= -30_610_224_000 && seconds < 253_402_300_800; // years 1000 to 9999
  return isUsual && Number.isInteger(seconds)
    ? new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
    : `event_ts=${seconds}`;
}
