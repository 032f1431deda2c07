// Writes programs as input for clingo, and reads clingo's answers as facts.
//
// clingo has integers, strings and function terms. Numbers become integers by their rank. Booleans
// become b(0) and b(1), which have the same order. clingo orders values of different types and
// considers them unequal, whereas here no guard holds between different types. So each guard also
// requires equal types.

import type { Value, WireCondition, WireFact } from './naive-evaluator.ts';
import type { Program } from './random-program.ts';

export class ClingoText {
  /** The numbers in the program, in ascending order. clingo gets the index of a number instead. */
  readonly #numbers: readonly number[];
  readonly #program: Program;
  /** Number of guards written so far. Each has its own type variable. */
  #guards = 0;

  constructor(program: Program) {
    this.#program = program;
    const numbers = [...allValues(program)].filter((value) => typeof value === 'number');
    this.#numbers = numbers.sort((a, b) => a - b);
  }

  /** Returns the program. It shows only derived predicates. */
  program(): string {
    const { facts, rules } = this.#program;
    const types = [...allValues(this.#program)].map((value) => `type(${this.#term(value)},${typeOf(value)}).`);
    const derived = new Map(rules.map(({ then }) => [then.pred, then.args.length]));
    return [
      ...types,
      ...facts.map((fact) => `${this.#atom(fact)}.`),
      ...rules
        .filter(({ enabled }) => enabled !== false)
        .map((rule) => `${this.#atom(rule.then)} :- ${rule.if.flatMap((one) => this.#conditions(one)).join(', ')}.`),
      ...[...derived].map(([pred, arity]) => `#show p_${pred}/${arity}.`),
      ...(derived.size === 0 ? ['#show.'] : []),
    ].join('\n');
  }

  /** Returns the fact for an atom in an answer, such as `p_close(1,"a")`. */
  factOf(text: string): WireFact {
    const open = text.indexOf('(');
    const name = open < 0 ? text : text.slice(0, open);
    const args: Value[] = [];
    for (const [token] of open < 0 ? [] : text.slice(open + 1, -1).matchAll(/"(?:[^"\\]|\\.)*"|b\([01]\)|\d+/g)) {
      if (token.startsWith('"')) args.push(token.slice(1, -1).replace(/\\(.)/g, '$1'));
      else args.push(token.startsWith('b') ? token === 'b(1)' : this.#numbers[Number(token)]!);
    }
    return { pred: name.slice(2), args };
  }

  #conditions(condition: WireCondition): string[] {
    if ('not' in condition) return [`not ${this.#atom(condition.not)}`];
    if ('pred' in condition) return [this.#atom(condition)];
    const [left, op, right] = condition.compare;
    const [a, b] = [this.#term(left), this.#term(right)];
    const type = `Type${this.#guards++}`;
    return [`${a} ${op} ${b}`, `type(${a},${type})`, `type(${b},${type})`];
  }

  #atom({ pred, args }: WireFact): string {
    return args.length === 0 ? `p_${pred}` : `p_${pred}(${args.map((term) => this.#term(term)).join(',')})`;
  }

  #term(term: Value): string {
    if (typeof term === 'number') return String(this.#numbers.indexOf(term));
    if (typeof term === 'boolean') return `b(${Number(term)})`;
    if (term.startsWith('?')) return `V${term.slice(1)}`;
    return `"${term.replace(/[\\"]/g, '\\$&')}"`;
  }
}

function typeOf(value: Value): number {
  return ['number', 'string', 'boolean'].indexOf(typeof value);
}

/** Returns the constants in facts and rules. */
function allValues({ facts, rules }: Program): Set<Value> {
  const terms = [
    ...facts.flatMap(({ args }) => args),
    ...rules.flatMap((rule) => [...rule.then.args, ...rule.if.flatMap(termsOf)]),
  ];
  return new Set(terms.filter((term) => typeof term !== 'string' || !term.startsWith('?')));
}

function termsOf(condition: WireCondition): Value[] {
  if ('not' in condition) return condition.not.args;
  return 'pred' in condition ? condition.args : [condition.compare[0], condition.compare[2]];
}
