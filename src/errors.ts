// The one error type of Hedgerow: a stable code, a sentence a person can act on, and fields. One
// table maps the codes to HTTP statuses.

/** The stable error codes, and the HTTP status of the answer for each. */
export const STATUS_OF_CODE = {
  not_leader: 307,
  invalid_input: 400,
  invalid_json: 400,
  invalid_framing: 400,
  empty_members: 400,
  too_many_members: 400,
  invalid_cursor: 400,
  syntax_error: 400,
  invalid_statement: 400,
  query_too_large: 400,
  invalid_lsn: 400,
  unknown_column: 400,
  unknown_node: 400,
  unauthorized: 401,
  forbidden: 403,
  foreign_host: 403,
  foreign_origin: 403,
  route_not_found: 404,
  table_not_found: 404,
  edge_not_found: 404,
  node_not_found: 404,
  index_not_found: 404,
  key_not_found: 404,
  rule_not_found: 404,
  interaction_not_found: 404,
  graph_not_found: 404,
  virtual_unavailable: 404,
  method_not_allowed: 405,
  table_exists: 409,
  table_in_use: 409,
  node_in_use: 409,
  node_exists: 409,
  nodes_exhausted: 409,
  index_exists: 409,
  column_exists: 409,
  primary_table: 409,
  conflict: 409,
  transaction_expired: 409,
  idempotency_conflict: 409,
  already_done: 409,
  memory_ended: 409,
  answers_damaged: 409,
  backup_exists: 409,
  file_exists: 409,
  last_admin: 409,
  lsn_ahead: 409,
  log_diverged: 409,
  graph_exists: 409,
  cursor_gone: 410,
  lsn_gone: 410,
  length_required: 411,
  body_too_large: 413,
  unsupported_media_type: 415,
  invalid_rule: 422,
  too_many_facts: 422,
  invalid_model_address: 422,
  rate_limited: 429,
  too_many_transactions: 429,
  internal: 500,
  table_corrupt: 500,
  corrupt: 500,
  hydration_failed: 500,
  model_failed: 502,
  backend_failed: 502,
  starting: 503,
  draining: 503,
  overloaded: 503,
  leader_unavailable: 503,
  log_failed: 503,
  disk_failed: 503,
  lsn_timeout: 503,
  too_far_behind: 503,
  no_keys: 503,
  timeout: 504,
  disk_full: 507,
} as const;

export type ErrorCode = keyof typeof STATUS_OF_CODE;

/** One invalid field; `loc` is its path, such as `["body", "members", 0]`. */
export interface FieldError {
  loc: (string | number)[];
  msg: string;
}

/**
 * A setting of the service that an error concerns. The code that throws does not know how the
 * setting is given: an embedding program passes an option, while http/ and cli/ add the name of the
 * environment variable to the message.
 */
export type SettingKey =
  | 'auditLog'
  | 'backupRoot'
  | 'changesKeepSeconds'
  | 'copyRoot'
  | 'llmAllowedHosts'
  | 'llmBaseUrl'
  | 'llmModel'
  | 'log'
  | 'logDsn'
  | 'memoryBudgetMb'
  | 'snapshotDir'
  | 'openaiApiKey'
  | 'virtualDsn'
  | `virtualDsn.${string}`
  | 'virtualRoot';

/** Further details for programs: `line`, `file`, `offset`, ... */
export interface ErrorFields {
  readonly settings?: readonly SettingKey[];
  readonly [name: string]: unknown;
}

export class HedgerowError extends Error {
  readonly code: ErrorCode;
  /** The invalid fields, if there are several or if the location matters. */
  readonly errors: FieldError[] | undefined;
  readonly fields: ErrorFields | undefined;

  constructor(
    code: ErrorCode,
    detail: string,
    more: { errors?: FieldError[]; fields?: ErrorFields; cause?: unknown } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'HedgerowError';
    this.code = code;
    this.errors = more.errors;
    this.fields = more.fields;
  }

  get status(): number {
    return STATUS_OF_CODE[this.code];
  }
}

/**
 * Creates a HedgerowError without a stack, for refusals that callers can cause as often as they
 * like. Capturing the stack costs ten times as much as the rest of such an answer.
 */
export function refusal(
  code: ErrorCode,
  detail: string,
  more: { errors?: FieldError[]; fields?: ErrorFields } = {},
): HedgerowError {
  return Object.assign(Object.create(HedgerowError.prototype) as HedgerowError, {
    name: 'HedgerowError',
    message: detail,
    code,
    errors: more.errors,
    fields: more.fields,
  });
}

/**
 * Returns the error for a file whose bytes are not the bytes that were written. The message names
 * the file and the offset.
 */
export function corruption(file: string, offset: number, what: string): HedgerowError {
  return new HedgerowError(
    'corrupt',
    `${file} is corrupt at offset ${offset}: ${what}. Restore the file from a backup; nothing was changed.`,
    {
      fields: { file, offset },
    },
  );
}
