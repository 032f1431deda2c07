// Generates random stratified programs with their facts: recursion, negations of lower strata,
// guards, constants, and cycles in the data. The same seed always gives the same program.

import { Random } from '../support/random.ts';
import type { Value, WireCondition, WireFact, WireRule } from './naive-evaluator.ts';

export interface Program {
  facts: WireFact[];
  rules: WireRule[];
  /** The edges described by the facts; empty if the facts are arbitrary. */
  edges: ProgramEdge[];
}

/** An edge in the form in which `all_edges` returns it. */
export interface ProgramEdge {
  edge_id: number;
  event_ts: number;
  members: number[];
  weight: number | null;
  mean_dist_m: number | null;
  formation: string | null;
  properties: Record<string, Value | null>;
}

interface Predicate {
  pred: string;
  arity: number;
  /** 0 for given predicates; rules of level n negate predicates of lower levels. */
  level: number;
}

/**
 * Texts of programs. U+FFFD is below U+1F9F6 by code point, but above the first surrogate of
 * U+1F9F6 by UTF-16 code unit.
 */
const TEXTS = ['', 'a', 'b', 'ab', 'A', '1', 'true', 'é', '\u{fffd}', '\u{1f9f6}', 'with "quotes" and \\', 'a, b'];
const NUMBERS = [0, 1, 2, 3, 4, 5, -1, 0.5, 2.5, 1e21];
const OPS = ['=', '==', '!=', '<', '<=', '>', '>='];
const CONFIDENCES = [1, 1, 1, 1, 1, 0.9, 0.9, 0.5, 0.5, 0.8, 0.3, 0];

/** Returns a random program. One program in four is about edges. */
export function randomProgram(seed: number): Program {
  return new ProgramMaker(new Random(seed)).make();
}

/**
 * Returns a program about paths through a graph with 20 to 34 nodes. Its relations are large enough
 * for every kind of index.
 */
export function largeProgram(seed: number): Program {
  return new ProgramMaker(new Random(seed)).makeLarge();
}

/** Returns the program with its facts and rules in another order. */
export function shuffledProgram(program: Program, seed: number): Program {
  const random = new Random(seed);
  return { ...program, facts: shuffled(program.facts, random), rules: shuffled(program.rules, random) };
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  for (let at = left.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [left[at], left[other]] = [left[other]!, left[at]!];
  }
  return left;
}

class ProgramMaker {
  readonly #random: Random;
  /** Constants in this program. */
  readonly #values: Value[];

  constructor(random: Random) {
    this.#random = random;
    this.#values = shuffled(NUMBERS, random).slice(0, 2 + random.below(4));
    if (random.chance(0.5)) this.#values.push(...shuffled(TEXTS, random).slice(0, 1 + random.below(3)));
    if (random.chance(0.3)) this.#values.push(false, true);
  }

  make(): Program {
    const edges = this.#random.chance(0.25) ? this.#edges() : [];
    const base = edges.length > 0 ? EDGE_PREDICATES : this.#predicates('b', 1 + this.#random.below(3), 1);
    const derived = this.#predicates('d', 2 + this.#random.below(4), 3);
    const facts = edges.length > 0 ? edges.flatMap(factsOf) : base.flatMap((one) => this.#facts(one));
    if (edges.length === 0) facts.push(...this.#facts({ pred: 'step', arity: 2, level: 0 }));
    // A derived predicate may have given facts too.
    if (edges.length === 0 && this.#random.chance(0.15)) facts.push(...this.#facts(this.#pick(derived)).slice(0, 2));
    const rules = derived.flatMap((head) =>
      // The first rule uses only given facts, so that recursion has a starting point.
      Array.from({ length: 1 + this.#random.below(3) }, (_, at) => this.#rule(head, base, at === 0 ? base : derived)),
    );
    if (this.#random.chance(0.6)) rules.push(...this.#recursion(edges.length > 0));
    return { facts, edges, rules: rules.map((rule, at) => ({ ...rule, id: `rule:r${at}` })) };
  }

  makeLarge(): Program {
    const nodes = 20 + this.#random.below(15);
    const node = () => this.#random.below(nodes);
    const facts = Array.from({ length: Math.ceil(1.3 * nodes) }, () => ({ pred: 'step', args: [node(), node()] }));
    const rules = this.#recursion(false).map((rule, at) => ({ ...rule, id: `rule:r${at}` }));
    return { facts, edges: [], rules };
  }

  /**
   * Returns rules for paths between nodes. They use one predicate or two, and extend a path by one
   * step or join two paths.
   */
  #recursion(hasEdges: boolean): WireRule[] {
    const way = 'way';
    const other = this.#random.chance(0.5) ? 'other_way' : way;
    const step: WireFact[] = hasEdges
      ? [
          { pred: 'member', args: ['?E', '?A'] },
          { pred: 'member', args: ['?E', '?B'] },
        ]
      : [{ pred: 'step', args: ['?A', '?B'] }];
    const rule = (pred: string, ...body: WireCondition[]): WireRule => ({
      id: '',
      if: shuffled(body, this.#random),
      then: { pred, args: ['?A', '?C'], confidence: this.#pick(CONFIDENCES) },
    });
    const more = this.#random.chance(0.6)
      ? renamed(step, { '?A': '?B', '?B': '?C' })
      : [{ pred: way, args: ['?B', '?C'] }];
    const end: WireCondition[] = this.#random.chance(0.3) ? [{ compare: ['?A', '!=', '?C'] }] : [];
    const closing = this.#random.chance(0.3)
      ? [rule('no_way', ...renamed(step, { '?B': '?C' }), { not: { pred: other, args: ['?C', '?A'] } })]
      : [];
    return [
      rule(way, ...renamed(step, { '?B': '?C' })),
      rule(other, { pred: way, args: ['?A', '?B'] }, ...more, ...end),
      rule(way, { pred: other, args: ['?A', '?C'] }),
      ...closing,
    ];
  }

  #predicates(prefix: string, count: number, levels: number): Predicate[] {
    const arities = [1, 2, 2, 2, 2, 2, 1, 2, 3, 0];
    return Array.from({ length: count }, (_, at) => ({
      pred: `${prefix}${at}`,
      arity: this.#pick(arities),
      level: this.#random.below(levels),
    }));
  }

  #facts({ pred, arity }: Predicate): WireFact[] {
    const most = this.#values.length;
    const count = arity === 0 ? this.#random.below(2) : Math.ceil(most / 2) + this.#random.below(most + 1);
    return Array.from({ length: count }, () => ({
      pred,
      args: Array.from({ length: arity }, () => this.#pick(this.#values)),
    }));
  }

  #edges(): ProgramEdge[] {
    return Array.from({ length: 2 + this.#random.below(4) }, (_, at) => ({
      edge_id: at * 3 + 1,
      event_ts: this.#random.below(4) * 10,
      members: [...new Set(Array.from({ length: 1 + this.#random.below(3) }, () => this.#random.below(5)))].sort(),
      weight: this.#pick([null, 0.5, 1, 2]),
      mean_dist_m: null,
      formation: this.#pick([null, 'a', 'b']),
      properties: { kind: this.#pick([null, 'a', 1, true]) },
    }));
  }

  #rule(head: Predicate, base: readonly Predicate[], derived: readonly Predicate[]): WireRule {
    const notAbove = derived === base ? [] : derived.filter(({ level }) => level <= head.level);
    const below = [...base, ...derived.filter(({ level }) => level < head.level), UNDEFINED];
    const others = [...base, ...notAbove, ...(derived === base ? [] : [head, head])];
    const atoms = this.#random.chance(0.6) ? this.#chain(others) : this.#atoms(others);
    const bound = [...new Set(atoms.flatMap(({ args }) => args.filter(isVariable)))];
    const conditions: WireCondition[] = [...atoms];
    for (let more = this.#pick([0, 0, 0, 0, 1, 2]); more > 0; more--) {
      const { pred, arity } = this.#pick(below);
      conditions.push({ not: { pred, args: Array.from({ length: arity }, () => this.#term(bound, 0.2)) } });
    }
    for (let more = this.#pick([0, 0, 0, 0, 1, 2]); more > 0; more--)
      conditions.push({ compare: [this.#term(bound, 0.1), this.#pick(OPS), this.#term(bound, 0.5)] });
    return {
      id: '',
      ...(this.#random.chance(0.05) ? { enabled: false } : {}),
      priority: this.#random.below(3),
      if: shuffled(conditions, this.#random),
      then: {
        pred: head.pred,
        args: this.#headArgs(head.arity, bound),
        confidence: this.#pick(CONFIDENCES),
      },
    };
  }

  /** Returns the arguments of a head: the ends of a chain of variables, or arbitrary terms. */
  #headArgs(arity: number, bound: readonly string[]): Value[] {
    const ends = [bound[0], bound.at(-1), ...bound.slice(1)].filter((one) => one !== undefined);
    if (ends.length >= arity && this.#random.chance(0.6)) return ends.slice(0, arity);
    return Array.from({ length: arity }, () => this.#term(bound, 0.1));
  }

  /** Returns arbitrary atoms over a few variables. */
  #atoms(predicates: readonly Predicate[]): WireFact[] {
    const variables = VARIABLES.slice(0, 2 + this.#random.below(3));
    return Array.from({ length: this.#pick([1, 1, 2, 2, 2, 3]) }, () => {
      const { pred, arity } = this.#pick(predicates);
      return { pred, args: Array.from({ length: arity }, () => this.#term(variables, 0.1)) };
    });
  }

  /** Returns atoms that pass a value from one to the next, so that recursion takes many steps. */
  #chain(predicates: readonly Predicate[]): WireFact[] {
    return Array.from({ length: this.#pick([1, 2, 2, 2, 3]) }, (_, at) => {
      const { pred, arity } = this.#pick(predicates);
      return { pred, args: VARIABLES.slice(at, at + arity) };
    });
  }

  #term(variables: readonly string[], constants: number): Value {
    return variables.length === 0 || this.#random.chance(constants) ? this.#pick(this.#values) : this.#pick(variables);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)]!;
  }
}

const VARIABLES = ['?A', '?B', '?C', '?D', '?E'];

/** A predicate without facts and rules. */
const UNDEFINED: Predicate = { pred: 'undefined_one', arity: 1, level: 0 };

const EDGE_PREDICATES: readonly Predicate[] = [
  ['hyperedge', 1],
  ['at', 2],
  ['member', 2],
  ['member', 2],
  ['member', 2],
  ['weight', 2],
  ['formation', 2],
  ['size', 2],
  ['property', 3],
].map(([pred, arity]) => ({ pred: pred as string, arity: arity as number, level: 0 }));

function factsOf({ edge_id, event_ts, members, weight, formation, properties }: ProgramEdge): WireFact[] {
  const facts: [string, ...(Value | null)[]][] = [
    ['hyperedge', edge_id],
    ['at', edge_id, event_ts],
    ...members.map((member): [string, ...Value[]] => ['member', edge_id, member]),
    ['weight', edge_id, weight],
    ['formation', edge_id, formation],
    ['size', edge_id, members.length],
    ...Object.entries(properties).map(([column, value]): [string, ...(Value | null)[]] => [
      'property',
      edge_id,
      column,
      value,
    ]),
  ];
  return facts.filter((row) => !row.includes(null)).map(([pred, ...args]) => ({ pred, args: args as Value[] }));
}

function renamed(atoms: readonly WireFact[], names: Readonly<Record<string, string>>): WireFact[] {
  return atoms.map(({ pred, args }) => ({ pred, args: args.map((term) => names[String(term)] ?? term) }));
}

function isVariable(term: Value): term is string {
  return typeof term === 'string' && term.startsWith('?');
}
