// Builds the proof of one fact: a directed graph from given facts to the goal. Each fact occurs
// once, and only facts on which the goal rests occur.

import type { Steps } from '../schedule/steps.ts';
import { isAboutNodes } from './base-predicates.ts';
import { type Bindings, matchAtom, valueOfTerm } from './bindings.ts';
import type { Derivation, Model } from './evaluate.ts';
import { factText } from './fact-text.ts';
import type { Atom, CheckedRule, CompareOp, Condition, Constant, Term } from './rule.ts';

/** A given fact. The last four fields are present if the fact is about an edge. */
export interface EvidenceNode {
  id: string;
  kind: 'evidence';
  fact: string;
  predicate: string;
  args: Constant[];
  confidence: number;
  hedge_tag?: string;
  edge_id?: number;
  table?: string;
  event_ts?: number;
}

export interface ConclusionNode {
  id: string;
  kind: 'conclusion';
  fact: string;
  predicate: string;
  args: Constant[];
  confidence: number;
  rule_id: string;
  rule_tag: string;
  step_tag: string;
  /** Ids of nodes, one for each condition of the rule, in the order of the rule's body. */
  premises: string[];
}

/** A negated premise: this fact does not hold. */
export interface AbsenceNode {
  id: string;
  kind: 'absence';
  predicate: string;
  args: Constant[];
}

/** A guard whose variables are replaced by their values. */
export interface GuardNode {
  id: string;
  kind: 'guard';
  compare: [Constant, CompareOp, Constant];
}

export type ProofNode = EvidenceNode | ConclusionNode | AbsenceNode | GuardNode;

/** Leads from a premise to the conclusion. */
export interface ProofEdge {
  from: string;
  to: string;
  role: 'premise';
}

/**
 * A proof as answers contain it. Nodes come after those on which they rest, so the goal is last. An
 * unproved goal has no nodes.
 */
export interface Proof {
  /** `proof-<n>` */
  proof_id: string;
  /** The fact as text. */
  goal: string;
  status: 'proved' | 'unproved';
  /** The confidence of the goal; 0 if it is unproved. */
  confidence: number;
  /** Number of rule applications on the longest path from evidence to the goal. */
  depth: number;
  nodes: ProofNode[];
  edges: ProofEdge[];
}

/** The part of a model that a proof needs. */
export type ProvenFacts = Pick<Model, 'factOf' | 'confidenceOf' | 'derivationOf'>;

/** What a proof contains about facts, rules and edges in addition to the model's data. */
export interface ProofTags {
  /** Returns `STEP-<n>` for a derived fact. */
  stepTag(fact: number): string;
  /** Returns `RULE-<n>`. */
  ruleTag(ruleId: string): string;
  /**
   * Returns the table and time of the edge with this id. Returns undefined if given facts with this
   * number as their first argument are not about an edge.
   */
  edge(edgeId: number): { table: string; event_ts: number } | undefined;
}

/**
 * Number of visits to facts between two yields, which take one or two milliseconds. A fact may be
 * visited several times.
 */
const FACTS_BETWEEN_YIELDS = 500;

/**
 * Returns the proof `proof-<number>` of a fact that holds. The cost is linear in the size of the
 * proof, and the depth is limited only by memory.
 */
export function proofOf(model: ProvenFacts, fact: number, tags: ProofTags, number: number): Proof {
  const steps = proofSteps(model, fact, tags, number);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** Does the same as `proofOf`, step by step. */
export function* proofSteps(model: ProvenFacts, goal: number, tags: ProofTags, number: number): Steps<Proof> {
  const draft = new Draft(model, tags);
  // A fact is on the stack from when it is first needed until it is in the draft.
  const stack: Frame[] = [{ fact: goal, derivation: undefined }];
  const open = new Set<number>();
  let untilYield = FACTS_BETWEEN_YIELDS;
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (--untilYield === 0) {
      untilYield = FACTS_BETWEEN_YIELDS;
      yield;
    }
    const { fact } = frame;
    if (draft.has(fact)) stack.pop();
    else if (frame.derivation === undefined) {
      frame.derivation = model.derivationOf(fact);
      if (frame.derivation === undefined) draft.addEvidence(fact);
      else {
        open.add(fact);
        pushMissing(frame.derivation.premises, draft, open, stack);
      }
    } else {
      open.delete(fact);
      draft.addConclusion(fact, frame.derivation);
    }
  }
  return draft.finish(goal, number);
}

interface Frame {
  fact: number;
  /** Undefined until the fact's premises are pushed. */
  derivation: Derivation | undefined;
}

/** Pushes the premises that are not in the draft yet, so that the first one is on top. */
function pushMissing(premises: readonly number[], draft: Draft, open: ReadonlySet<number>, stack: Frame[]): void {
  for (let at = premises.length - 1; at >= 0; at--) {
    const premise = premises[at]!;
    if (open.has(premise)) throw new Error(`fact ${premise} is derived from itself`);
    if (!draft.has(premise)) stack.push({ fact: premise, derivation: undefined });
  }
}

/** Returns the proof of a goal that does not hold. */
export function unprovedOf(predicate: string, args: readonly Constant[], number: number): Proof {
  return {
    proof_id: `proof-${number}`,
    goal: factText(predicate, args),
    status: 'unproved',
    confidence: 0,
    depth: 0,
    nodes: [],
    edges: [],
  };
}

class Draft {
  readonly #model: ProvenFacts;
  readonly #tags: ProofTags;
  readonly #nodes: ProofNode[] = [];
  readonly #edges: ProofEdge[] = [];
  /** Node id and depth of each fact. */
  readonly #places = new Map<number, { id: string; depth: number }>();
  /** Ids of absence and guard nodes by their statements. */
  readonly #conditions = new Map<string, string>();

  constructor(model: ProvenFacts, tags: ProofTags) {
    this.#model = model;
    this.#tags = tags;
  }

  has(fact: number): boolean {
    return this.#places.has(fact);
  }

  addEvidence(fact: number): void {
    const { pred, args } = this.#model.factOf(fact);
    const id = this.#nextId();
    const edgeId = args[0];
    const isEdge = typeof edgeId === 'number' && !isAboutNodes({ pred, args });
    const edge = isEdge ? this.#tags.edge(edgeId) : undefined;
    this.#nodes.push({
      id,
      kind: 'evidence',
      fact: factText(pred, args),
      predicate: pred,
      args,
      confidence: this.#model.confidenceOf(fact),
      ...(edge === undefined
        ? {}
        : { hedge_tag: `HEDGE-${edgeId}`, edge_id: edgeId as number, table: edge.table, event_ts: edge.event_ts }),
    });
    this.#places.set(fact, { id, depth: 0 });
  }

  /** Adds a conclusion whose premises are in the draft already. */
  addConclusion(fact: number, derivation: Derivation): void {
    const { pred, args } = this.#model.factOf(fact);
    const premises = this.#premiseIds(derivation);
    const id = this.#nextId();
    this.#nodes.push({
      id,
      kind: 'conclusion',
      fact: factText(pred, args),
      predicate: pred,
      args,
      confidence: this.#model.confidenceOf(fact),
      rule_id: derivation.rule.rule.id,
      rule_tag: this.#tags.ruleTag(derivation.rule.rule.id),
      step_tag: this.#tags.stepTag(fact),
      premises,
    });
    for (const from of new Set(premises)) this.#edges.push({ from, to: id, role: 'premise' });
    let deepest = 0;
    for (const premise of derivation.premises) deepest = Math.max(deepest, this.#places.get(premise)!.depth);
    this.#places.set(fact, { id, depth: deepest + 1 });
  }

  finish(goal: number, number: number): Proof {
    const { pred, args } = this.#model.factOf(goal);
    return {
      proof_id: `proof-${number}`,
      goal: factText(pred, args),
      status: 'proved',
      confidence: this.#model.confidenceOf(goal),
      depth: this.#places.get(goal)!.depth,
      nodes: this.#nodes,
      edges: this.#edges,
    };
  }

  #premiseIds({ rule, premises }: Derivation): string[] {
    const bindings = this.#bindingsOf(rule, premises);
    let at = 0;
    return rule.body.map((condition) =>
      condition.kind === 'atom' ? this.#places.get(premises[at++]!)!.id : this.#conditionId(condition, bindings),
    );
  }

  /**
   * Returns the values of the variables in a derivation. Only the facts of a derivation are stored,
   * so the values are found by matching the rule's atoms with these facts again.
   */
  #bindingsOf(rule: CheckedRule, premises: readonly number[]): Bindings {
    const bindings: Bindings = new Map();
    if (rule.body.every((condition) => condition.kind === 'atom')) return bindings;
    let at = 0;
    for (const condition of rule.body)
      if (condition.kind === 'atom') matchAtom(condition.atom, this.#model.factOf(premises[at++]!).args, bindings);
    return bindings;
  }

  #conditionId(condition: Exclude<Condition, { kind: 'atom' }>, bindings: Bindings): string {
    if (condition.kind === 'not') {
      const args = argsOf(condition.atom, bindings);
      const predicate = condition.atom.pred;
      return this.#once(factText(predicate, args), (id) => ({ id, kind: 'absence', predicate, args }));
    }
    const compare: GuardNode['compare'] = [
      boundValue(condition.left, bindings),
      condition.op,
      boundValue(condition.right, bindings),
    ];
    return this.#once(JSON.stringify(compare), (id) => ({ id, kind: 'guard', compare }));
  }

  #once(key: string, nodeOf: (id: string) => ProofNode): string {
    const known = this.#conditions.get(key);
    if (known !== undefined) return known;
    const id = this.#nextId();
    this.#nodes.push(nodeOf(id));
    this.#conditions.set(key, id);
    return id;
  }

  #nextId(): string {
    return `n${this.#nodes.length + 1}`;
  }
}

function argsOf(atom: Atom, bindings: Bindings): Constant[] {
  return atom.args.map((term) => boundValue(term, bindings));
}

/**
 * Returns the value of a term. Every variable has one, because rules are safe: a positive atom
 * binds each variable.
 */
function boundValue(term: Term, bindings: Bindings): Constant {
  const value = valueOfTerm(term, bindings);
  if (value === undefined) throw new Error('a variable of a derivation has no value');
  return value;
}
