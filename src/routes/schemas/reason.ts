// Schemas of questions, their answers and checked claims.

import {
  answeredTime,
  described,
  finite,
  integer,
  integerFrom,
  integerWithin,
  tableName,
  text,
  time,
  times,
  titled,
  v,
} from '../../http/schema.ts';
import { parseAnswer, parseQuery, question, shownNode } from './rag-parse.ts';

export { parseAnswer, parseQuery };

const query = () =>
  described(question(), 'A text that names times, nodes or conditions. An empty text asks for the most recent edges.');
const modeField = () => v.picklist(['neuro', 'symbolic', 'hybrid'], 'must be neuro, symbolic or hybrid');
const flag = (sentence: string) => v.optional(described(v.boolean('must be true or false'), sentence));
const rules = () =>
  v.optional(
    described(
      v.array(v.unknown(), 'must be an array of rules, or null for the stored ones'),
      'Rules for this request only. An empty list means no rules; null or absent means the enabled stored rules.',
    ),
  );

export const reasonBody = v.pipe(
  v.object({
    query: query(),
    table: v.optional(tableName()),
    top_k: v.optional(
      described(integerWithin(1, 10_000), 'Maximum number of edges to which the rules are applied; default 40.'),
    ),
    require_proof: flag('Abstain unless at least one fact is proved.'),
    rules: rules(),
    mode: v.optional(described(modeField(), 'Checked, but has no effect: no model is used.')),
    times: times(),
  }),
  v.examples([
    {
      query: 'nodes 1 and 2',
      rules: [
        {
          id: 'rule:met',
          if: [
            { pred: 'member', args: ['?E', '?A'] },
            { pred: 'member', args: ['?E', '?B'] },
            { compare: ['?A', '<', '?B'] },
          ],
          then: { pred: 'met', args: ['?A', '?B'] },
        },
      ],
    },
  ]),
);

export const ragBody = v.pipe(
  v.object({
    query: query(),
    table: v.optional(tableName()),
    mode: v.optional(described(modeField(), 'Default hybrid.')),
    require_proof: flag('Abstain unless at least one fact is proved.'),
    mock: flag('Use the built-in mock model: it needs no network and gives the same answer every time.'),
    rules: rules(),
    model: v.optional(
      described(v.pipe(text(), v.minLength(1, 'must not be empty'), v.maxLength(256)), 'Name of the language model.'),
    ),
    base_url: v.optional(
      described(
        v.pipe(text(), v.maxLength(2048)),
        'Address of a chat-completions API. An address other than the configured one needs the role readwrite, and its host and port must be allowed.',
      ),
    ),
    openai_api_key: v.optional(described(text(), 'Key for the language model; it is not stored.')),
    top_k: v.optional(described(integerWithin(1, 200), 'Maximum number of retrieved edges; default 40.')),
    token_budget: v.optional(
      described(integerWithin(500, 12_000), 'Maximum number of tokens in the prompt; default 3000.'),
    ),
    time_start: v.optional(described(time(), 'First second (epoch seconds or ISO 8601); overrides the text.')),
    times: times(),
    time_end: v.optional(described(time(), 'Last second (epoch seconds or ISO 8601); overrides the text.')),
  }),
  v.examples([{ query: 'What happened since 2001-05-01?', mock: true, rules: [] }]),
);

const constant = v.union([v.number(), v.string(), v.boolean()]);
const property = v.nullable(v.union([v.number(), v.string(), v.boolean()]));

const edge = titled(
  v.object({
    edge_id: integer(),
    hedge_tag: v.string(),
    event_ts: answeredTime(),
    end_ts: described(v.optional(v.nullable(answeredTime())), 'Only in tables with intervals; null while it holds.'),
    members: described(v.array(shownNode), 'Node ids; in a named table keys, or objects with kind and key.'),
    roles: v.optional(described(v.record(v.string(), v.array(shownNode)), 'Only of a table with roles.')),
    weight: v.nullable(finite()),
    mean_dist_m: v.nullable(finite()),
    formation: v.nullable(v.string()),
    score: described(finite(), 'From 0 to 1; higher is better.'),
    why: described(v.array(v.string()), 'What of the question matched, with ranks where lists were fused.'),
    properties: described(v.record(v.string(), property), 'User columns.'),
  }),
  'RetrievedEdge',
);

const derivedFact = titled(
  v.object({
    step_tag: v.string(),
    fact: v.string(),
    predicate: v.string(),
    args: v.array(constant),
    confidence: finite(),
    rule_id: v.string(),
    rule_tag: v.string(),
    hedge_tags: described(v.array(v.string()), 'All edges of its proof.'),
  }),
  'DerivedFact',
);

const node = titled(
  v.variant('kind', [
    v.object({
      id: v.string(),
      kind: v.literal('evidence'),
      fact: v.string(),
      predicate: v.string(),
      args: v.array(constant),
      confidence: finite(),
      hedge_tag: v.optional(described(v.string(), 'This and the next fields: only if the fact is about an edge.')),
      edge_id: v.optional(integer()),
      table: v.optional(v.string()),
      event_ts: v.optional(answeredTime()),
    }),
    v.object({
      id: v.string(),
      kind: v.literal('conclusion'),
      fact: v.string(),
      predicate: v.string(),
      args: v.array(constant),
      confidence: finite(),
      rule_id: v.string(),
      rule_tag: v.string(),
      step_tag: v.string(),
      premises: described(v.array(v.string()), 'Ids of nodes, one for each condition of the rule.'),
    }),
    v.object({ id: v.string(), kind: v.literal('absence'), predicate: v.string(), args: v.array(constant) }),
    v.object({ id: v.string(), kind: v.literal('guard'), compare: v.tuple([constant, v.string(), constant]) }),
  ]),
  'ProofNode',
);

const proof = titled(
  v.object({
    proof_id: v.string(),
    goal: v.string(),
    status: v.picklist(['proved', 'unproved']),
    confidence: finite(),
    depth: integerFrom(0),
    nodes: v.array(node),
    edges: v.array(v.object({ from: v.string(), to: v.string(), role: v.literal('premise') })),
  }),
  'Proof',
);

const shared = {
  query: v.string(),
  table: v.string(),
  answer: v.string(),
  abstained: v.boolean(),
  derived_facts: v.array(derivedFact),
  proofs: described(v.array(proof), 'One for each derived fact, in the same order.'),
  rules_fired: described(v.array(v.string()), 'RULE-1 first.'),
  truncated: described(
    v.boolean(),
    'True if more edges matched than top_k. Absence in proofs then means absence among the retrieved edges.',
  ),
  understood: described(parseAnswer, 'How the text was understood, and which parts were ignored.'),
  all_edges: described(v.array(edge), 'All retrieved edges, best first.'),
  computed_by: described(
    v.nullable(v.string()),
    'The statement, or the measure with its parameters, that computed a count, first, last or most; null if there is none.',
  ),
  reasoning_ms: finite(),
};

export const reasonAnswer = v.object(shared);

const firewall = v.object({
  outcome: v.picklist(['supported', 'stripped', 'abstained']),
  abstained: v.boolean(),
  coverage: described(finite(), 'Share of supported sentences among those that state something.'),
  supported_count: integerFrom(0),
  stripped_count: integerFrom(0),
  stripped: v.array(v.object({ sentence: v.string(), reason: v.string() })),
});

export const ragAnswer = v.object({
  ...shared,
  mode: modeField(),
  cited_edges: v.array(edge),
  firewall,
  confidence: finite(),
  low_confidence: v.boolean(),
  model: v.string(),
  prompt_tokens: integerFrom(0),
  completion_tokens: integerFrom(0),
  retrieval_ms: finite(),
  generation_ms: finite(),
  total_ms: finite(),
  context_tokens: integerFrom(0),
  interaction_id: v.string(),
});

const MOST_CLAIMS = 200;
const MOST_CLAIM_CHARACTERS = 10_000;
const MOST_TEXT_CHARACTERS = 100_000;
const MOST_CHECKED_EDGES = 200;

export const checkBody = v.pipe(
  v.object({
    text: v.optional(
      described(
        v.pipe(text(), v.maxLength(MOST_TEXT_CHARACTERS, `must have at most ${MOST_TEXT_CHARACTERS} characters`)),
        'An answer whose sentences have tags such as [HEDGE-1]; each sentence is judged by its own tags.',
      ),
    ),
    claims: v.optional(
      described(
        v.pipe(
          v.array(
            v.pipe(text(), v.maxLength(MOST_CLAIM_CHARACTERS, `must have at most ${MOST_CLAIM_CHARACTERS} characters`)),
            'must be an array of strings',
          ),
          v.minLength(1, 'must hold a claim'),
          v.maxLength(MOST_CLAIMS, `must hold at most ${MOST_CLAIMS} claims`),
        ),
        'Claims, instead of `text`. Each is judged as a whole; a claim without a tag is judged against all edges.',
      ),
    ),
    table: v.optional(tableName()),
    edge_ids: described(
      v.pipe(
        v.array(integer(), 'must be an array of edge ids'),
        v.maxLength(MOST_CHECKED_EDGES, `must hold at most ${MOST_CHECKED_EDGES} ids`),
      ),
      'Edges that may be cited.',
    ),
  }),
  v.examples([{ claims: ['Nodes 1 and 2 met.', 'Nodes 1 and 9 met.'], edge_ids: [1] }]),
);

export const checkAnswer = v.object({
  results: described(
    v.array(
      v.object({
        text: v.string(),
        supported: v.boolean(),
        reasons: described(v.array(v.string()), 'The reasons why it is not supported.'),
        tags: described(v.array(v.string()), 'What it was checked against: HEDGE-1, ...'),
      }),
    ),
    'One for each claim, or for each sentence of the text that states something, in order.',
  ),
  supported: described(integerFrom(0), 'Number of those that are supported.'),
  total: integerFrom(0),
});

export const interactionParameters = v.object({ id: text() });
export const interaction = described(
  v.looseObject({
    interaction_id: v.string(),
    created_at: described(integer(), 'Epoch seconds.'),
    request: v.looseObject({}),
    retrieved: v.looseObject({}),
    derived: v.looseObject({}),
    generated: v.looseObject({}),
    firewall,
    answer: v.string(),
  }),
  'Kept in memory only: lost after a restart.',
);
