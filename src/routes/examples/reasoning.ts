// Example bodies for rules, facts with proofs, and answers in words.

import type { BodyExamples } from '../../http/index.ts';

/** A rule as sent by a client. */
const RULE = {
  id: 'rule:met',
  name: 'Met',
  if: [{ pred: 'member', args: ['?E', '?A'] }, { pred: 'member', args: ['?E', '?B'] }, { compare: ['?A', '<', '?B'] }],
  then: { pred: 'met', args: ['?A', '?B'], confidence: 0.9 },
};

/** An edge as returned by retrieval. */
const EDGE = {
  edge_id: 2,
  hedge_tag: 'HEDGE-2',
  event_ts: 1700000060,
  members: [7, 12],
  weight: 0.8,
  mean_dist_m: null,
  formation: null,
  score: 0.9603174603174602,
  why: ['nodes: 7, 12', 'recency'],
  properties: {},
};

/** The fact that the rule derives from the edge. */
const FACT = {
  step_tag: 'STEP-1',
  fact: 'met(7, 12)',
  predicate: 'met',
  args: [7, 12],
  confidence: 0.9,
  rule_id: 'rule:met',
  rule_tag: 'RULE-1',
  hedge_tags: ['HEDGE-2'],
};

/** The proof of the fact. */
const PROOF = {
  proof_id: 'proof-1',
  goal: 'met(7, 12)',
  status: 'proved',
  confidence: 0.9,
  depth: 1,
  nodes: [
    {
      id: 'n1',
      kind: 'evidence',
      fact: 'member(2, 7)',
      predicate: 'member',
      args: [2, 7],
      confidence: 1,
      hedge_tag: 'HEDGE-2',
      edge_id: 2,
      table: 'hyperedges',
      event_ts: 1700000060,
    },
    {
      id: 'n2',
      kind: 'evidence',
      fact: 'member(2, 12)',
      predicate: 'member',
      args: [2, 12],
      confidence: 1,
      hedge_tag: 'HEDGE-2',
      edge_id: 2,
      table: 'hyperedges',
      event_ts: 1700000060,
    },
    { id: 'n3', kind: 'guard', compare: [7, '<', 12] },
    {
      id: 'n4',
      kind: 'conclusion',
      fact: 'met(7, 12)',
      predicate: 'met',
      args: [7, 12],
      confidence: 0.9,
      rule_id: 'rule:met',
      rule_tag: 'RULE-1',
      step_tag: 'STEP-1',
      premises: ['n1', 'n2', 'n3'],
    },
  ],
  edges: [
    { from: 'n1', to: 'n4', role: 'premise' },
    { from: 'n2', to: 'n4', role: 'premise' },
    { from: 'n3', to: 'n4', role: 'premise' },
  ],
};

/** How the question was understood. */
const UNDERSTOOD = {
  query: 'node 12 since 2023-11-14T22:14:00Z',
  table: 'hyperedges',
  window: { start_ts: 1700000040, end_ts: null },
  nodes: [12],
  filters: [],
  top: null,
  order: 'score',
  keywords: [],
  ignored: [],
};

/** The firewall's verdict. */
const FIREWALL = {
  outcome: 'supported',
  abstained: false,
  coverage: 1,
  supported_count: 1,
  stripped_count: 0,
  stripped: [],
};

/** The answer in words. */
const ANSWER = 'met(7, 12) holds with confidence 0.9 by the rule "Met", from 1 hyperedge [RULE-1] [STEP-1] [HEDGE-2].';

export const REASONING_EXAMPLES: Readonly<Record<string, BodyExamples>> = {
  putRule: {
    body: RULE,
    answer: {
      id: 'rule:met',
      name: 'Met',
      enabled: true,
      priority: 0,
      version: 1,
      if: [
        { pred: 'member', args: ['?E', '?A'] },
        { pred: 'member', args: ['?E', '?B'] },
        { compare: ['?A', '<', '?B'] },
      ],
      then: { pred: 'met', args: ['?A', '?B'], confidence: 0.9 },
      stratum: 0,
    },
  },
  validateRule: { body: RULE, answer: { ok: true, errors: [], stratum: 0 } },
  listRules: {
    answer: {
      rules: [{ id: 'rule:met', name: 'Met', enabled: true, priority: 0, version: 1, head: 'met', body_size: 3 }],
    },
  },
  getRule: {
    answer: {
      id: 'rule:met',
      name: 'Met',
      enabled: true,
      priority: 0,
      version: 1,
      if: [
        { pred: 'member', args: ['?E', '?A'] },
        { pred: 'member', args: ['?E', '?B'] },
        { compare: ['?A', '<', '?B'] },
      ],
      then: { pred: 'met', args: ['?A', '?B'], confidence: 0.9 },
      stratum: 0,
    },
  },
  deleteRule: { answer: { id: 'rule:met', deleted: true } },
  reason: {
    body: { query: 'nodes 7 and 12 since 2023-11-14T22:14:00Z until 2023-11-14T22:14:30Z', rules: [RULE] },
    answer: {
      query: 'nodes 7 and 12 since 2023-11-14T22:14:00Z until 2023-11-14T22:14:30Z',
      table: 'hyperedges',
      answer: ANSWER,
      abstained: false,
      all_edges: [EDGE],
      rules_fired: ['rule:met'],
      truncated: false,
      computed_by: null,
      understood: {
        query: 'nodes 7 and 12 since 2023-11-14T22:14:00Z until 2023-11-14T22:14:30Z',
        table: 'hyperedges',
        window: { start_ts: 1700000040, end_ts: 1700000070 },
        nodes: [7, 12],
        filters: [],
        top: null,
        order: 'score',
        keywords: [],
        ignored: [],
      },
      reasoning_ms: 1.5,
      derived_facts: [FACT],
      proofs: [PROOF],
    },
  },
  ragQuery: {
    body: { query: 'node 12 since 2023-11-14T22:14:00Z', mode: 'symbolic', rules: [RULE] },
    answer: {
      query: 'node 12 since 2023-11-14T22:14:00Z',
      answer: ANSWER,
      table: 'hyperedges',
      mode: 'symbolic',
      abstained: false,
      cited_edges: [EDGE],
      all_edges: [EDGE],
      firewall: FIREWALL,
      rules_fired: ['rule:met'],
      confidence: 0.9,
      low_confidence: false,
      model: 'symbolic',
      prompt_tokens: 0,
      completion_tokens: 0,
      retrieval_ms: 1.5,
      reasoning_ms: 1.5,
      generation_ms: 1.5,
      total_ms: 1.5,
      context_tokens: 0,
      interaction_id: 'interaction-1',
      truncated: false,
      understood: UNDERSTOOD,
      computed_by: null,
      derived_facts: [FACT],
      proofs: [PROOF],
    },
  },
  checkClaims: {
    body: { claims: ['Nodes 7 and 12 met [HEDGE-2].', 'Node 12 met node 99 [HEDGE-2].'], edge_ids: [2] },
    answer: {
      results: [
        { text: 'Nodes 7 and 12 met [HEDGE-2].', supported: true, reasons: [], tags: ['HEDGE-2'] },
        {
          text: 'Node 12 met node 99 [HEDGE-2].',
          supported: false,
          reasons: ['member 99 is not in what is cited'],
          tags: ['HEDGE-2'],
        },
      ],
      supported: 1,
      total: 2,
    },
  },
  parseQuestion: {
    answer: {
      query: 'node 40 since 2023-11-14',
      table: 'hyperedges',
      window: { start_ts: 1699920000, end_ts: null },
      nodes: [40],
      filters: [],
      top: null,
      order: 'score',
      keywords: [],
      ignored: [],
    },
  },
  getInteraction: {
    answer: {
      interaction_id: 'interaction-1',
      created_at: 1700000000,
      request: {
        query: 'node 12 since 2023-11-14T22:14:00Z',
        table: 'hyperedges',
        mode: 'symbolic',
        mock: false,
        top_k: 40,
        token_budget: 3000,
        require_proof: false,
        time_start: null,
        time_end: null,
        own_rules: true,
      },
      retrieved: { question: UNDERSTOOD, strategy: 'FMI_LOOKUP', truncated: false, edges: [EDGE] },
      derived: { count: 1, facts: [FACT], proofs: [PROOF], rules_fired: ['rule:met'] },
      generated: { model: 'symbolic', text: ANSWER, length: 101 },
      firewall: FIREWALL,
      answer: ANSWER,
      confidence: 0.9,
      timings: { retrieval_ms: 1.5, reasoning_ms: 1.5, generation_ms: 1.5, total_ms: 1.5 },
    },
  },
};
