// Defines the formats in which rows can be shown.

export const FORMATS = ['table', 'json', 'ndjson', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

export const TIMES = ['epoch', 'iso'] as const;
export type Times = (typeof TIMES)[number];
export const TIMES_FLAG = [
  '--times <form>',
  'times of edges as epoch (seconds) or iso (default iso in tables, else epoch)',
] as const;

/**
 * Returns the given form of times. The default is ISO 8601 in tables and epoch seconds in other
 * formats.
 */
export function timesIn(format: Format, given: Times | undefined): Times {
  return given ?? (format === 'table' ? 'iso' : 'epoch');
}
