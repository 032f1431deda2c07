// Tools that work something out: measures, facts with proofs, answers in words.

import { described, integer, integerFrom, text, v } from '../../http/schema.ts';
import { largestFirst, rowsOf } from '../analyze/rows.ts';
import { object, oneTable, rowLimit, someTable, values } from './arguments.ts';
import { cut, fitting, MOST_CHARACTERS } from './bounded.ts';
import { proofLines } from './proof-text.ts';
import { type Tool, tool } from './tool.ts';

const MOST_ANSWER = 4000;
const USUAL_FACTS = 20;

const measures = tool({
  name: 'measures',
  title: 'List measures',
  description:
    'The measures of a table as a hypergraph (centralities, clustering, components, temporal ones). Name one to get the schema of its parameters and its result.',
  input: object({ measure: v.optional(described(text(), 'One measure, in full.')) }),
  run: async ({ measure }, { client }, signal) => {
    const all = await client.analytics.list({ signal });
    const one = all.find((item) => item.measure === measure?.toLowerCase());
    if (one !== undefined) return one;
    return {
      ...(measure === undefined
        ? {}
        : { hint: `There is no measure ${JSON.stringify(measure.slice(0, 100))}; these are all.` }),
      measures: all.map(({ measure: name, about, params }) => ({
        measure: name,
        about,
        params: Object.keys((params.properties as object | undefined) ?? {}),
      })),
    };
  },
});

const runMeasure = tool({
  name: 'run_measure',
  title: 'Compute a measure',
  description:
    'Compute a measure of a table seen as a hypergraph, of all times or of a window: start_ts and end_ts inside params, epoch seconds. Values by node or edge come largest first. measures lists them; most used: node_degree, pagerank, betweenness, s_connected_components, modularity (communities), temporal_activity. A large table may take long: take a window.',
  input: object({
    table: oneTable(),
    measure: described(text(), 'Its name, as measures shows it.'),
    params: values('Its parameters by name, as in {"top": 10, "start_ts": 1704067200, "end_ts": 1704153599}.'),
    limit: rowLimit('rows of the result'),
  }),
  run: async ({ table, measure, params, limit }, { client }, signal) => {
    const { result, ...facts } = await client.analytics.run(table, measure.trim().toLowerCase(), params, { signal });
    const rows = largestFirst(rowsOf(result, facts.measure), result);
    const shown = fitting(rows.slice(0, limit));
    const more = shown.length < rows.length;
    const hint = 'There are more rows: raise limit, or narrow the window with start_ts and end_ts in params.';
    return { ...facts, rows: shown, rows_total: rows.length, more, ...(more ? { hint } : {}) };
  },
});

const question = () =>
  described(
    text(),
    'Text that names times ("since 2024-01-03", "between 10:00 and 11:00"), nodes ("node 12"), conditions ("weight > 0.5", "formation = lunch"). Empty: the most recent edges.',
  );
const topK = (most: number) =>
  v.optional(
    described(
      v.pipe(
        integer(),
        v.minValue(1, `must be an integer from 1 to ${most}`),
        v.maxValue(most, `must be an integer from 1 to ${most}`),
      ),
      'Most edges retrieved; default 40.',
    ),
  );

const RULES_ABOUT = `Rules of this question alone instead of the stored ones, as in {"id": "rule:met", "if": [{"pred": "member", "args": ["?E", "?A"]}, {"pred": "member", "args": ["?E", "?B"]}, {"compare": ["?A", "<", "?B"]}], "then": {"pred": "met", "args": ["?A", "?B"]}}. "?Name" is a variable, anything else a constant; {"not": {"pred": ..., "args": [...]}} negates; compare takes = == != < <= > >=. Base facts: hyperedge(E), at(E, ts), member(E, node), weight(E, w), mean_dist(E, d), formation(E, name), size(E, n), bucket(E, b), property(E, column, value). An empty list: no rules.`;

const reason = tool({
  name: 'reason',
  title: 'Derive facts with proofs',
  description:
    'Derive facts by rules from the edges that a text means; no language model is asked. Each fact comes with its proof: lines that lead from the fact over the rules to stored edges, indented by what rests on what. Rules see only the edges retrieved (top_k at most): truncated says that more edges matched. list_rules shows the stored rules.',
  input: object({
    query: question(),
    table: someTable(),
    top_k: topK(10_000),
    require_proof: v.optional(described(v.boolean('must be true or false'), 'Abstain unless something is proved.')),
    rules: v.optional(described(v.array(v.unknown(), 'must be an array of rules'), RULES_ABOUT)),
    predicate: v.optional(described(text(), 'Show only facts of this predicate.')),
    skip: v.optional(described(integerFrom(0), 'Facts passed over, for those behind the ones seen; default 0.'), 0),
    limit: rowLimit('facts', USUAL_FACTS),
    proof_json: v.optional(
      described(
        v.boolean('must be true or false'),
        'Proofs as JSON for hedgerow check-proof, not as lines. Default false.',
      ),
      false,
    ),
  }),
  run: async ({ predicate, skip, limit, proof_json, ...asked }, { client }, signal) => {
    const { answer, derived_facts, proofs, ...facts } = await client.reasoning.reason(asked, { signal });
    const meant = derived_facts.flatMap((fact, at) =>
      predicate === undefined || fact.predicate === predicate ? [{ fact, proof: proofs[at]! }] : [],
    );
    const shown = fitting(
      meant.slice(skip, skip + limit).map(({ fact: { fact, predicate, args, confidence }, proof }) => ({
        fact,
        predicate,
        args,
        confidence,
        proof: proof_json ? proof : proofLines(proof),
      })),
    );
    const more = skip + shown.length < meant.length;
    const hint = `There are more facts: go on with skip ${skip + shown.length}, name a predicate, or narrow the question.`;
    return {
      ...facts,
      ...(derived_facts.length === 0 || facts.abstained ? { answer: cut(answer, MOST_ANSWER) } : {}),
      facts_by_predicate: countsOf(derived_facts.map((fact) => fact.predicate)),
      derived_facts: shown,
      facts_total: meant.length,
      more,
      ...(more ? { hint } : {}),
    };
  },
});

function countsOf(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}

const ask = tool({
  name: 'ask',
  title: 'Answer a question in words',
  description:
    'An answer in words whose sentences are each supported by stored edges or derived facts; what is not, is stripped. The mode symbolic asks no language model; neuro and hybrid ask the one the service is set up with.',
  input: object({
    query: question(),
    table: someTable(),
    mode: v.optional(v.picklist(['symbolic', 'neuro', 'hybrid'], 'must be symbolic, neuro or hybrid'), 'symbolic'),
    top_k: topK(200),
    require_proof: v.optional(described(v.boolean('must be true or false'), 'Abstain unless something is proved.')),
  }),
  run: async (asked, { client }, signal) => {
    const answer = await client.reasoning.ask(asked, { signal });
    const { abstained, confidence, firewall, truncated, mode, model, table, interaction_id } = answer;
    return {
      answer: cut(answer.answer, MOST_CHARACTERS / 4),
      abstained,
      confidence,
      truncated,
      mode,
      model,
      table,
      interaction_id,
      firewall: { outcome: firewall.outcome, coverage: firewall.coverage, stripped_count: firewall.stripped_count },
      cited_edges: fitting(answer.cited_edges, MOST_CHARACTERS / 3),
      derived_facts: fitting(answer.derived_facts.slice(0, USUAL_FACTS), MOST_CHARACTERS / 4),
    };
  },
});

export const REASONING_TOOLS: readonly Tool[] = [measures, runMeasure, reason, ask];
