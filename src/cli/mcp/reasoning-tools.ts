// Defines the tools that draw conclusions: facts with proofs, and answers in words.

import type { HedgerowClient, ReasonAnswer } from '../../client/index.ts';
import { described, finite, integer, integerFrom, text, v } from '../../http/schema.ts';
import { givenNode, object, rowLimit, someTable } from './arguments.ts';
import { cut, fitting, MOST_CHARACTERS } from './bounded.ts';
import { type GivenNode, NodeNames } from './names.ts';
import { answer, citedEdge, fact, hint, more, names, understood } from './outputs.ts';
import { proofLines } from './proof-text.ts';
import { membersOf, namesObject, shownEdge, timeText } from './shown.ts';
import { type Tool, tool } from './tool.ts';

const MOST_ANSWER = 4000;
const USUAL_FACTS = 20;

const question = () =>
  described(
    text(),
    'Text that names times ("since 2024-01-03", "between 10:00 and 11:00"), nodes ("node 12"), conditions ("weight > 0.5", "formation = lunch"). Empty: the most recent edges.',
  );
const nodes = () =>
  v.optional(
    described(
      v.array(givenNode('A node.'), 'must be an array of nodes'),
      'Nodes the question is about: keys where list_tables shows nodes "named", else numbers or, where it shows names_in, names. They are added to the text, as in "nodes 3 and 7".',
    ),
    [],
  );
const topK = (most: number) =>
  v.optional(
    described(
      v.pipe(
        integer(),
        v.minValue(1, `must be an integer from 1 to ${most}`),
        v.maxValue(most, `must be an integer from 1 to ${most}`),
      ),
      'Maximum number of edges to retrieve; default 40.',
    ),
  );

const computedBy = () =>
  described(
    v.nullable(text()),
    'The statement or measure that computed a count, first, last or most in the answer; null if the question asks for none.',
  );

const RULES_ABOUT = `Rules for this question only, instead of the stored rules, as in {"id": "rule:met", "if": [{"pred": "member", "args": ["?E", "?A"]}, {"pred": "member", "args": ["?E", "?B"]}, {"compare": ["?A", "<", "?B"]}], "then": {"pred": "met", "args": ["?A", "?B"]}}. "?Name" is a variable, anything else a constant; {"not": {"pred": ..., "args": [...]}} negates; compare takes = == != < <= > >=. Base facts: hyperedge(E), at(E, ts), until(E, ts) of edges with an end, member(E, node), weight(E, w), mean_dist(E, d), formation(E, name), size(E, n), bucket(E, b), property(E, column, value), role(E, node, role), supersedes(E2, E1) of a memory E2 that has replaced E1; in a table of named nodes, whose node is the key (Kind:key if the members have several kinds), also node(N, kind), attribute(N, column, value). An empty list: no rules.`;

const reason = tool({
  name: 'reason',
  title: 'Derive facts with proofs',
  description:
    'Derive facts by rules from the edges that a text describes; no language model is used. Each fact comes with its proof: lines that lead from the fact through rules to stored edges, with premises indented below their conclusion. Rules see only the edges retrieved (top_k at most): truncated means that more edges matched. list_rules shows the stored rules.',
  input: object({
    query: question(),
    nodes: nodes(),
    table: someTable(),
    top_k: topK(10_000),
    require_proof: v.optional(
      described(v.boolean('must be true or false'), 'Abstain unless at least one fact is proved.'),
    ),
    rules: v.optional(described(v.array(v.unknown(), 'must be an array of rules'), RULES_ABOUT)),
    predicate: v.optional(described(text(), 'Show only facts with this predicate.')),
    skip: v.optional(
      described(integerFrom(0), 'Number of facts to skip, to get those after the facts already seen; default 0.'),
      0,
    ),
    limit: rowLimit('facts', USUAL_FACTS),
    proof_json: v.optional(
      described(
        v.boolean('must be true or false'),
        'Proofs as JSON for hedgerow check-proof, not as lines. Default false.',
      ),
      false,
    ),
  }),
  output: answer({
    table: text(),
    abstained: v.boolean(),
    answer: v.optional(described(text(), 'Answer in words, when nothing was derived.')),
    computed_by: computedBy(),
    truncated: described(
      v.boolean(),
      'True if more edges matched than top_k, so that the rules saw only some of them.',
    ),
    understood,
    rules_fired: v.array(text()),
    facts_by_predicate: v.record(text(), integer()),
    derived_facts: v.array(
      v.strictObject({
        ...fact,
        proof: described(
          v.union([v.array(text()), v.looseObject({})]),
          'The proof as lines, or as JSON with proof_json.',
        ),
      }),
    ),
    facts_total: integer(),
    more: more(),
    names: names(),
    hint: hint(),
  }),
  run: async ({ predicate, skip, limit, proof_json, nodes, query, ...asked }, { client }, signal) => {
    const kept = await NodeNames.open(client, asked.table, signal);
    const body = { ...asked, query: await withNodes(query, nodes, kept) };
    const answered = await client.reasoning.reason(body, { signal });
    const { derived_facts, proofs, table, abstained, truncated, rules_fired } = answered;
    const meant = derived_facts.flatMap((fact, at) =>
      predicate === undefined || fact.predicate === predicate ? [{ fact, proof: proofs[at]! }] : [],
    );
    const some = meant.slice(skip, skip + limit);
    const shown = fitting(
      some.map(({ fact: { fact, predicate, args, confidence }, proof }) => ({
        fact,
        predicate,
        args,
        confidence,
        proof: proof_json ? proof : proofLines(proof),
      })),
    );
    const more = skip + shown.length < meant.length;
    const hint = `There are more facts: go on with skip ${skip + shown.length}, name a predicate, or narrow the question.`;
    const byNumber = await kept.namesOf(some.slice(0, shown.length).flatMap(({ proof }) => provenMembers(proof)));
    return {
      table,
      abstained,
      ...(derived_facts.length === 0 || abstained ? { answer: cut(answered.answer, MOST_ANSWER) } : {}),
      computed_by: answered.computed_by,
      truncated,
      understood: understoodOf(answered),
      rules_fired,
      facts_by_predicate: countsOf(derived_facts.map((fact) => fact.predicate)),
      derived_facts: shown,
      facts_total: meant.length,
      more,
      ...(byNumber.size === 0 ? {} : { names: namesObject(byNumber) }),
      ...(more ? { hint } : {}),
    };
  },
});

/** Returns the text with the nodes added in a form that the service understands. */
async function withNodes(query: string, nodes: readonly GivenNode[], names: NodeNames): Promise<string> {
  if (nodes.length === 0) return query;
  // Keys stand in the text as they are; the service finds them there.
  const numbers = [...new Set(await names.nodesOf(nodes))];
  const list =
    numbers.length === 1 ? `node ${numbers[0]}` : `nodes ${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`;
  return query.trim() === '' ? list : `${query} (${list})`;
}

/** Returns the nodes that are members in the evidence of a proof. */
function provenMembers({ nodes }: ReasonAnswer['proofs'][number]): number[] {
  return nodes.flatMap((node) => {
    const member = node.kind === 'evidence' && node.predicate === 'member' ? node.args[1] : undefined;
    return typeof member === 'number' ? [member] : [];
  });
}

function understoodOf({ understood: { window, nodes, filters, ignored } }: Pick<ReasonAnswer, 'understood'>): object {
  const { start_ts, end_ts } = window ?? { start_ts: null, end_ts: null };
  return {
    start_ts,
    start_time: timeText(start_ts),
    end_ts,
    end_time: timeText(end_ts),
    nodes: [...nodes],
    filters: [...filters],
    ignored: [...ignored],
  };
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}

const ask = tool({
  name: 'ask',
  title: 'Answer a question in words',
  description:
    'An answer in words whose sentences are each supported by stored edges or derived facts; unsupported sentences are removed. The mode symbolic uses no language model; neuro and hybrid use the one that the service is configured with.',
  input: object({
    query: question(),
    nodes: nodes(),
    table: someTable(),
    mode: v.optional(v.picklist(['symbolic', 'neuro', 'hybrid'], 'must be symbolic, neuro or hybrid'), 'symbolic'),
    top_k: topK(200),
    require_proof: v.optional(
      described(v.boolean('must be true or false'), 'Abstain unless at least one fact is proved.'),
    ),
  }),
  output: answer({
    answer: text(),
    computed_by: computedBy(),
    abstained: v.boolean(),
    confidence: finite(),
    truncated: described(v.boolean(), 'True if more edges matched than top_k.'),
    table: text(),
    understood,
    firewall: v.strictObject({
      outcome: v.picklist(['supported', 'stripped', 'abstained']),
      coverage: described(finite(), 'Share of supported sentences among those that state something.'),
      stripped_count: integer(),
    }),
    cited_edges: v.array(citedEdge),
    derived_facts: v.array(
      v.strictObject({
        step_tag: described(text(), 'Tag with which the answer cites the fact.'),
        rule_tag: text(),
        rule_id: text(),
        ...fact,
        hedge_tags: v.array(text()),
      }),
    ),
  }),
  run: async ({ nodes, query, ...asked }, { client }, signal) => {
    const kept = await NodeNames.open(client, asked.table, signal);
    const body = { ...asked, query: await withNodes(query, nodes, kept) };
    const answered = await client.reasoning.ask(body, { signal });
    const { abstained, confidence, firewall, truncated, table } = answered;
    return {
      answer: cut(answered.answer, MOST_CHARACTERS / 4),
      computed_by: answered.computed_by,
      abstained,
      confidence,
      truncated,
      table,
      understood: understoodOf(answered),
      firewall: { outcome: firewall.outcome, coverage: firewall.coverage, stripped_count: firewall.stripped_count },
      cited_edges: fitting(await citedEdges(answered.cited_edges, kept), MOST_CHARACTERS / 3),
      derived_facts: fitting(answered.derived_facts.slice(0, USUAL_FACTS).map(citedFact), MOST_CHARACTERS / 4),
    };
  },
});

type Answered = Awaited<ReturnType<HedgerowClient['reasoning']['ask']>>;

/** Returns the cited edges, the best first; leaves out the scores of the retrieval. */
async function citedEdges(edges: Answered['cited_edges'], names: NodeNames): Promise<object[]> {
  const byNumber = await names.namesOf(membersOf(edges));
  return edges.map((edge) => {
    const { edge_id, hedge_tag, event_ts, end_ts, members, roles, weight, mean_dist_m, formation, properties, why } =
      edge;
    const end = end_ts === undefined ? {} : { end_ts, end_time: timeText(end_ts) };
    const nodes = roles === undefined ? { members } : { members, roles };
    const shown = { edge_id, hedge_tag, event_ts, ...end, ...nodes, weight, mean_dist_m, formation, properties, why };
    return shownEdge(shown, byNumber);
  });
}

function citedFact(one: Answered['derived_facts'][number]): object {
  const { step_tag, rule_tag, rule_id, fact, predicate, args, confidence, hedge_tags } = one;
  return { step_tag, rule_tag, rule_id, fact, predicate, args, confidence, hedge_tags };
}

const checkClaims = tool({
  name: 'check_claims',
  title: 'Check claims against edges',
  description:
    'Check whether stored edges support what is said about them: numbers, times, names, counts and negations of each claim are compared with the edges. Use it before you tell somebody what you concluded. A claim that cites an edge, as in "Nodes 3 and 7 met [HEDGE-12].", is compared with that edge, any other claim with all of edge_ids.',
  input: object({
    claims: described(
      v.pipe(v.array(text(), 'must be an array of texts'), v.minLength(1, 'must hold at least one claim')),
      'Sentences.',
    ),
    edge_ids: described(
      v.pipe(v.array(integerFrom(1), 'must be an array of ids'), v.minLength(1, 'must hold at least one id')),
      'Ids of the edges that the claims are about: id or edge_id in other answers.',
    ),
    table: someTable(),
  }),
  output: answer({
    supported: described(integer(), 'Number of supported claims.'),
    total: integer(),
    results: v.array(
      v.strictObject({
        text: text(),
        supported: v.boolean(),
        reasons: described(v.array(text()), 'Why the claim is not supported.'),
        tags: described(v.array(text()), 'Edges with which the claim was compared: HEDGE-12, ...'),
      }),
    ),
  }),
  run: async ({ claims, edge_ids, table }, { client }, signal) => {
    const body = { claims, edge_ids, ...(table === undefined ? {} : { table }) };
    const { supported, total, results } = await client.reasoning.check(body, { signal });
    const shown = results.map((one) => ({ ...one, text: cut(one.text, MOST_ANSWER) }));
    return { supported, total, results: fitting(shown, MOST_CHARACTERS / 2) };
  },
});

export const REASONING_TOOLS: readonly Tool[] = [reason, ask, checkClaims];
