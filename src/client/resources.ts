// Calls on tables, indexes, batches, the log, backups, keys and the service itself: one small class
// for each, one method for each route.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import type {
  AutocompactAnswer,
  AutocompactInput,
  BackupAnswer,
  BackupInput,
  BatchAnswer,
  BatchOperation,
  CreatedKey,
  DroppedIndex,
  DroppedTable,
  DroppedTextIndex,
  Health,
  Index,
  Key,
  Live,
  NewIndex,
  NewKey,
  NewTable,
  Ready,
  RevokedKey,
  Table,
  WalStatus,
} from './types.ts';

abstract class Resource {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }
}

export class Tables extends Resource {
  list(options?: CallOptions): Promise<Table[]> {
    return this.connection.json('listTables', {}, options);
  }

  get(name: string, options?: CallOptions): Promise<Table> {
    return this.connection.json('getTable', { parameters: [name] }, options);
  }

  create(table: NewTable, options?: CallOptions): Promise<Table> {
    return this.connection.json('createTable', { body: table }, options);
  }

  drop(name: string, options?: CallOptions): Promise<DroppedTable> {
    return this.connection.json('dropTable', { parameters: [name] }, options);
  }
}

export class Indexes extends Resource {
  /** Lists the indexes of one table or of all tables. */
  list(table?: string, options?: CallOptions): Promise<Index[]> {
    return this.connection.json('listIndexes', { query: { table } }, options);
  }

  create(index: NewIndex, options?: CallOptions): Promise<Index> {
    return this.connection.json('createIndex', { body: index }, options);
  }

  drop(table: string, column: string, options?: CallOptions): Promise<DroppedIndex> {
    return this.connection.json('dropIndex', { parameters: [table, column] }, options);
  }

  /** Drops the text index of a table. */
  dropText(table: string, options?: CallOptions): Promise<DroppedTextIndex> {
    return this.connection.json('dropTextIndex', { parameters: [table] }, options);
  }
}

export class Batch extends Resource {
  /**
   * Runs operations that commit together or not at all. If an operation fails, the call does not
   * throw; the answer has `committed: false`.
   */
  run(operations: readonly BatchOperation[], options?: CallOptions): Promise<BatchAnswer> {
    return this.connection.json('runBatch', { body: { operations } }, options);
  }
}

export class Wal extends Resource {
  status(options?: CallOptions): Promise<WalStatus> {
    return this.connection.json('getWal', {}, options);
  }

  /** Sets the number of log entries at which a compaction starts automatically. */
  autocompact(input: AutocompactInput, options?: CallOptions): Promise<AutocompactAnswer> {
    return this.connection.json('setAutocompact', { body: input }, options);
  }
}

export class Backups extends Resource {
  /** Writes an archive on the server; resolves when the archive is complete. */
  create(input: BackupInput = {}, options?: CallOptions): Promise<BackupAnswer> {
    return this.connection.json('createBackup', { body: input }, options);
  }
}

/**
 * Calls that change keys are sent only once: their answers may contain a secret, so the server does
 * not keep them for a retry.
 */
export class Keys extends Resource {
  list(options?: CallOptions): Promise<Key[]> {
    return this.connection.json('listKeys', {}, options);
  }

  create(key: NewKey, options?: CallOptions): Promise<CreatedKey> {
    return this.connection.json('createKey', { body: key }, options);
  }

  revoke(keyId: string, options?: CallOptions): Promise<RevokedKey> {
    return this.connection.json('revokeKey', { parameters: [keyId] }, options);
  }
}

export class Service extends Resource {
  live(options?: CallOptions): Promise<Live> {
    return this.connection.json('getLive', {}, options);
  }

  /**
   * Resolves when the service is ready. While it starts, the call is retried as often as the
   * options allow.
   */
  ready(options?: CallOptions): Promise<Ready> {
    return this.connection.json('getReady', {}, options);
  }

  health(options?: CallOptions): Promise<Health> {
    return this.connection.json('getHealth', {}, options);
  }

  /** Returns the metrics in the text format of Prometheus. */
  metrics(options?: CallOptions): Promise<string> {
    return this.connection.text('getMetrics', { accept: 'text/plain' }, options);
  }

  /** Returns the description of the API (OpenAPI 3.1). */
  openapi(options?: CallOptions): Promise<Record<string, unknown>> {
    return this.connection.json('getOpenapi', {}, options);
  }
}
