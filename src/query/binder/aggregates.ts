// The aggregates of the statement language.

export type AggregateFunction = 'COUNT' | 'SUM' | 'AVG' | 'MIN' | 'MAX' | 'COLLECT';

/** `keepsTime`: the aggregate of times is a time. */
export const AGGREGATES: Readonly<Record<AggregateFunction, { readonly keepsTime: boolean }>> = {
  COUNT: { keepsTime: false },
  SUM: { keepsTime: false },
  AVG: { keepsTime: true },
  MIN: { keepsTime: true },
  MAX: { keepsTime: true },
  COLLECT: { keepsTime: false },
};

/** `name`: in upper case. */
export function isAggregate(name: string): name is AggregateFunction {
  return Object.hasOwn(AGGREGATES, name);
}
