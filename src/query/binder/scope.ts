// Resolves the names at one place of a statement: aliases, columns and parameters.

import type { HedgerowError } from '../../errors.ts';
import { kindOfType } from '../../model/column-types.ts';
import { KEY_COLUMNS } from '../../model/columns.ts';
import { didYouMean } from '../../model/suggestions.ts';
import type { CallNode, NameNode, ParameterNode, Span } from '../parser/ast.ts';
import { shown, shownName, shownNames } from '../shown.ts';
import { errorAt } from '../syntax-error.ts';
import type {
  BoundExpression,
  BoundField,
  BoundParameter,
  BoundPattern,
  BoundSearch,
  Field,
  ValueType,
} from './bound.ts';
import type { InnerPatterns } from './exists.ts';
import { type ParameterType, type ParameterValues, parameterType } from './parameters.ts';

/** Binds an aggregate call. A scope has such a function only where aggregates are allowed. */
export type AggregateBinder = (call: CallNode, scope: Scope) => BoundExpression;

export class Scope {
  readonly text: string;
  /** The patterns by their number in the statement. Inside an EXISTS, some of them are hidden. */
  readonly patterns: readonly BoundPattern[];
  /** The numbers of the patterns that can be named here; undefined: all of them. */
  readonly visible: readonly number[] | undefined;
  /** The number of the first pattern of the MATCH, or of the innermost EXISTS. */
  readonly first: number;
  readonly parameters: ParameterValues;
  /** True for UPDATE and DELETE, where a bare name is a column of the changed table. */
  readonly bareColumns: boolean;
  /**
   * Collects the patterns of every EXISTS. A scope has it only where EXISTS is allowed: in WHERE.
   */
  readonly inner: InnerPatterns | undefined;
  readonly aggregates: AggregateBinder | undefined;
  /** Why aggregates are not allowed here, for the error. */
  readonly noAggregates: string;
  /** Set for ORDER BY, where a bare name may be the name of a returned item. */
  readonly itemNamed: ((name: string) => BoundExpression | undefined) | undefined;
  /** The searches bound so far, those of a WHERE before what is returned. */
  readonly searches: BoundSearch[];
  /**
   * Types of parameters. Each type is determined only once, because a parameter may be a long list
   * and occur often.
   */
  readonly #types: Map<string, ParameterType>;

  constructor(options: {
    text: string;
    patterns: readonly BoundPattern[];
    visible?: readonly number[];
    first?: number;
    parameters: ParameterValues;
    bareColumns?: boolean;
    inner?: InnerPatterns;
    aggregates?: AggregateBinder | undefined;
    noAggregates?: string;
    itemNamed?: (name: string) => BoundExpression | undefined;
    types?: Map<string, ParameterType>;
    searches?: BoundSearch[];
  }) {
    this.text = options.text;
    this.patterns = options.patterns;
    this.visible = options.visible;
    this.first = options.first ?? 0;
    this.inner = options.inner;
    this.parameters = options.parameters;
    this.bareColumns = options.bareColumns ?? false;
    this.aggregates = options.aggregates;
    this.itemNamed = options.itemNamed;
    this.#types = options.types ?? new Map();
    this.searches = options.searches ?? [];
    this.noAggregates = options.noAggregates ?? 'aggregates are allowed in RETURN and ORDER BY of a MATCH only';
  }

  /**
   * Returns a copy of this scope with another binder for aggregates, and without `itemNamed` and
   * EXISTS.
   */
  with(aggregates: AggregateBinder | undefined, noAggregates: string): Scope {
    const { text, patterns, parameters, bareColumns, searches } = this;
    return new Scope({
      text,
      patterns,
      parameters,
      bareColumns,
      noAggregates,
      aggregates,
      types: this.#types,
      searches,
    });
  }

  /** Returns a copy of this scope in which returned items can also be named. */
  withItems(itemNamed: (name: string) => BoundExpression | undefined): Scope {
    const { text, patterns, parameters, aggregates, noAggregates, searches } = this;
    return new Scope({
      ...{ text, patterns, parameters, noAggregates, itemNamed, aggregates, searches },
      types: this.#types,
    });
  }

  /** Returns the scope of the WHERE of an EXISTS, in which its own patterns are visible too. */
  within(patterns: readonly BoundPattern[], first: number, own: readonly number[]): Scope {
    const { text, parameters, bareColumns, inner } = this;
    return new Scope({
      text,
      patterns,
      visible: [...this.numbers(), ...own],
      first,
      parameters,
      bareColumns,
      ...(inner === undefined ? {} : { inner }),
      noAggregates: 'aggregates are allowed in RETURN and ORDER BY of a MATCH, not inside EXISTS',
      types: this.#types,
      // A search inside EXISTS is none of the WHERE around it.
      searches: [...this.searches],
    });
  }

  /** Returns the numbers of the patterns that can be named here. */
  numbers(): readonly number[] {
    return this.visible ?? [...this.patterns.keys()];
  }

  textOf(span: Span): string {
    return this.text.slice(span.start, span.end);
  }

  /**
   * Returns the position of the pattern with this alias. Throws `invalid_statement` if there is
   * none.
   */
  pattern(alias: NameNode): number {
    const index = this.findPattern(alias.name);
    if (index >= 0) return index;
    const known = this.numbers().map((number) => this.patterns[number]!.alias);
    const names = known.length === 0 ? 'there are no aliases here' : `there is ${shownNames(known)}`;
    throw this.error(alias, `${shownName(alias.name)} is not an alias; ${names}.${didYouMean(alias.name, known)}`);
  }

  /**
   * Returns the position of the pattern with this alias, or -1 if there is none. Aliases, like all
   * names, are compared without regard to case.
   */
  findPattern(name: string): number {
    const lower = name.toLowerCase();
    const { patterns, visible } = this;
    if (visible === undefined) return patterns.findIndex(({ alias }) => alias.toLowerCase() === lower);
    return visible.find((number) => patterns[number]!.alias.toLowerCase() === lower) ?? -1;
  }

  field(pattern: number, column: NameNode, span: Span): BoundField {
    const field = this.findField(pattern, column.name);
    if (field === undefined) throw this.unknownColumn(pattern, column);
    const bound = { kind: 'field', pattern, field, type: fieldType(field), text: this.textOf(span) } as const;
    return isTimeField(field) ? { ...bound, isTime: true } : bound;
  }

  findField(pattern: number, name: string): Field | undefined {
    const { table } = this.patterns[pattern]!;
    // A node table has no columns but its own, which may have these names.
    switch (table.isOfNodes ? '' : name.toLowerCase()) {
      case 'id':
        return { kind: 'id' };
      case 'event_ts':
        return { kind: 'event_ts' };
      case 'members':
        return { kind: 'members' };
      default:
    }
    const { columns, roles } = table;
    const role = roles.find(name);
    if (role !== undefined) return { kind: 'role', ...role };
    const column = columns.find(name);
    if (column === undefined) return undefined;
    const field: Field = { kind: 'property', id: column.id, name: column.name, type: column.type };
    return column === columns.end ? { ...field, isTime: true } : field;
  }

  unknownColumn(pattern: number, column: NameNode): HedgerowError {
    const { table } = this.patterns[pattern]!;
    const own = [...table.roles.names, ...table.columns.columns.map((one) => one.name)];
    const known = table.isOfNodes ? own : [...KEY_COLUMNS, ...own];
    return errorAt(
      this.text,
      column.start,
      `table ${table.name} has no column ${shownName(column.name)}; it has ${shownNames(known)}.${didYouMean(column.name, known)}`,
      undefined,
      'unknown_column',
    );
  }

  parameter(node: ParameterNode): BoundParameter {
    if (!Object.hasOwn(this.parameters, node.name) || this.parameters[node.name] === undefined) {
      const known = Object.keys(this.parameters);
      throw this.error(
        node,
        `parameter $${shown(node.name)} is missing; give it in "parameters".${didYouMean(node.name, known)}`,
      );
    }
    const { type, itemType } = this.#typeOf(node.name);
    return { kind: 'parameter', name: node.name, type, itemType, text: this.textOf(node) };
  }

  #typeOf(name: string): ParameterType {
    let type = this.#types.get(name);
    if (type === undefined) {
      type = parameterType(name, this.parameters[name]);
      this.#types.set(name, type);
    }
    return type;
  }

  error(span: Span, detail: string): HedgerowError {
    return errorAt(this.text, span.start, detail, undefined, 'invalid_statement');
  }
}

/** Returns whether values of the field are times, so that texts for it are read as times. */
export function isTimeField(field: Field): boolean {
  return field.kind === 'event_ts' || (field.kind === 'property' && field.isTime === true);
}

export function fieldType(field: Field): ValueType {
  if (field.kind === 'members' || field.kind === 'role') return 'list';
  if (field.kind !== 'property') return 'integer';
  return kindOfType(field.type);
}

/** Returns the name of a column as the table spells it. */
export function nameOfField(field: Field): string {
  return field.kind === 'property' || field.kind === 'role' ? field.name : field.kind;
}
