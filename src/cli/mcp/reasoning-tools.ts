// Tools that work something out: measures, facts with proofs, answers in words.

import { described, integer, text, v } from '../../http/schema.ts';
import { rowsOf } from '../analyze/rows.ts';
import type { Row } from '../query/runner.ts';
import { object, oneTable, rowLimit, someTable } from './arguments.ts';
import { cut, fitting, MOST_CHARACTERS } from './bounded.ts';
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
    'Compute a measure of a table, of all times or of a window (start_ts and end_ts inside params). Values by node or edge come largest first.',
  input: object({
    table: oneTable(),
    measure: described(text(), 'Its name, as measures shows it.'),
    params: v.optional(described(v.record(v.string(), v.unknown()), 'Its parameters.'), {}),
    limit: rowLimit('rows of the result'),
  }),
  run: async ({ table, measure, params, limit }, { client }, signal) => {
    const { result, ...facts } = await client.analytics.run(table, measure, params, { signal });
    const rows = largestFirst(rowsOf(result, facts.measure), Array.isArray(result));
    const shown = fitting(rows.slice(0, limit));
    const more = shown.length < rows.length;
    const hint = 'There are more rows: raise limit, or narrow the window with start_ts and end_ts in params.';
    return { ...facts, rows: shown, rows_total: rows.length, more, ...(more ? { hint } : {}) };
  },
});

/** Lists have an order of their own; equal values stay by id. */
function largestFirst(rows: readonly Row[], isList: boolean): readonly Row[] {
  const numbers = rows.every(({ value }) => typeof value === 'number' || value === null);
  if (isList || !numbers) return rows;
  const of = ({ value }: Row): number => (value as number | null) ?? Number.NEGATIVE_INFINITY;
  return [...rows].sort((a, b) => (of(a) === of(b) ? 0 : of(b) - of(a)));
}

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

const reason = tool({
  name: 'reason',
  title: 'Derive facts with proofs',
  description:
    'Derive facts by rules from the edges that a text means, each with a proof whose leaves are stored edges. No language model is asked. Rules: the stored ones, or those given here.',
  input: object({
    query: question(),
    table: someTable(),
    top_k: topK(10_000),
    require_proof: v.optional(described(v.boolean('must be true or false'), 'Abstain unless something is proved.')),
    rules: v.optional(
      described(
        v.array(v.unknown(), 'must be an array of rules'),
        'Rules of this question alone, as in {"id": "rule:met", "if": [{"pred": "member", "args": ["?E", "?A"]}, {"pred": "member", "args": ["?E", "?B"]}, {"compare": ["?A", "<", "?B"]}], "then": {"pred": "met", "args": ["?A", "?B"]}}. Base facts: hyperedge(E), at(E, ts), member(E, node), weight(E, w), mean_dist(E, d), formation(E, name), size(E, n), bucket(E, b), property(E, column, value).',
      ),
    ),
    limit: rowLimit('facts', USUAL_FACTS),
  }),
  run: async ({ limit, ...asked }, { client }, signal) => {
    const { answer, derived_facts, proofs, ...facts } = await client.reasoning.reason(asked, { signal });
    const shown = fitting(proofs.slice(0, limit), MOST_CHARACTERS / 2);
    const more = shown.length < derived_facts.length;
    const hint = 'There are more facts: raise limit, or narrow the question.';
    return {
      ...facts,
      answer: cut(answer, MOST_ANSWER),
      derived_facts: derived_facts.slice(0, shown.length),
      proofs: shown,
      facts_total: derived_facts.length,
      more,
      ...(more ? { hint } : {}),
    };
  },
});

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
