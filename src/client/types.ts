// The types of the values in requests and answers of the API. They are inferred from the schemas of
// the routes, without any code at run time.

import type { InferInput, InferOutput } from '../http/schema.ts';
import type * as analytics from '../routes/schemas/analytics.ts';
import type * as backup from '../routes/schemas/backup.ts';
import type * as batch from '../routes/schemas/batch.ts';
import type * as changes from '../routes/schemas/changes.ts';
import type * as edges from '../routes/schemas/edges.ts';
import type * as health from '../routes/schemas/health.ts';
import type * as indexes from '../routes/schemas/indexes.ts';
import type * as keys from '../routes/schemas/keys.ts';
import type * as maintenance from '../routes/schemas/maintenance.ts';
import type * as memory from '../routes/schemas/memory.ts';
import type * as nodes from '../routes/schemas/nodes.ts';
import type * as query from '../routes/schemas/query.ts';
import type * as reason from '../routes/schemas/reason.ts';
import type * as rows from '../routes/schemas/rows.ts';
import type * as rules from '../routes/schemas/rules.ts';
import type * as tables from '../routes/schemas/tables.ts';
import type * as virtual from '../routes/schemas/virtual.ts';

export type Hyperedge = InferOutput<typeof rows.rowSchema>;
/** An edge in the feed of changes. */
export type ChangedHyperedge = InferOutput<typeof rows.changedRow>;
export type QueryPlan = InferOutput<typeof rows.planSchema>;
/** Epoch seconds, or a time in ISO 8601. */
export type GivenTime = number | string;
/** A window with both ends, or a time at which the edges hold. */
export type RangeBounds = { start_ts: GivenTime; end_ts: GivenTime } | { at: GivenTime };
export type RangeQuery = Omit<InferOutput<typeof rows.rangeQuery>, 'times'> & RangeBounds;
export type RangeAnswer = InferOutput<typeof rows.rangeAnswer>;
export type LookupQuery = Omit<InferOutput<typeof rows.lookupQuery>, 'times'>;
export type LookupAnswer = InferOutput<typeof rows.lookupAnswer>;

/** What changes in an edge: null clears a column, and a table with intervals takes `end_ts`. */
export type HyperedgeChange = InferInput<typeof edges.patchBody>;

export type NewHyperedge = InferInput<typeof edges.edgeBody>;
export type HyperedgeKey = InferInput<typeof edges.edgeKeyBody>;
export type InsertedHyperedge = InferOutput<typeof edges.insertAnswer>;
export type InsertedHyperedges = InferOutput<typeof edges.bulkInsertAnswer>;
export type DeletedHyperedges = InferOutput<typeof edges.deleteAnswer>;

export type Change = InferOutput<typeof changes.change>;

export type CompactInput = InferInput<typeof maintenance.compactBody>;
export type CompactAnswer = InferOutput<typeof maintenance.compactAnswer>;
export type AutocompactInput = InferInput<typeof maintenance.autocompactBody>;
export type AutocompactAnswer = InferOutput<typeof maintenance.autocompactAnswer>;
export type WalStatus = InferOutput<typeof maintenance.walAnswer>;

export type Table = InferOutput<typeof tables.tableItem>;
export type NewTable = InferInput<typeof tables.tableBody>;
export type DroppedTable = InferOutput<typeof tables.dropTableAnswer>;

export type NodeTable = InferOutput<typeof nodes.nodeTableItem>;
export type NewNodeTable = InferInput<typeof nodes.nodeTableBody>;
export type Node = InferOutput<typeof nodes.nodeRow>;
export type NodeKey = string | number;
export type NodesQuery = InferOutput<typeof nodes.nodesQuery>;
export type Nodes = InferOutput<typeof nodes.nodesAnswer>;
export type WrittenNodes = InferOutput<typeof nodes.writtenNodes>;
export type DeletedNode = InferOutput<typeof nodes.deletedNode>;
/** A member of an edge: a node id, a key of a named table, or a key with its kind. */
export type Member = Hyperedge['members'][number];

export type BatchOperation = InferInput<typeof batch.batchBody>['operations'][number];
export type BatchAnswer = InferOutput<typeof batch.batchAnswer>;

export type QueryParameters = NonNullable<InferInput<typeof query.queryBody>['parameters']>;
export type QueryRow = InferOutput<typeof query.queryRow>;
export type QueryAnswer = InferOutput<typeof query.queryAnswer>;

export type Measure = InferOutput<typeof analytics.measureItem>;
export type MeasureParameters = NonNullable<InferInput<typeof analytics.measureBody>['params']>;
export type MeasureAnswer = InferOutput<typeof analytics.measureAnswer>;

export type NewRule = InferInput<typeof rules.ruleBody>;
export type StoredRule = InferOutput<typeof rules.storedRule>;
export type RuleList = InferOutput<typeof rules.ruleList>;
export type RuleValidation = InferOutput<typeof rules.validation>;
export type DeletedRule = InferOutput<typeof rules.deletedRule>;

export type ReasonInput = Omit<InferInput<typeof reason.reasonBody>, 'times'>;
export type ReasonAnswer = InferOutput<typeof reason.reasonAnswer>;
export type AskInput = Omit<InferInput<typeof reason.ragBody>, 'times'>;
export type RagAnswer = InferOutput<typeof reason.ragAnswer>;
export type CheckInput = InferInput<typeof reason.checkBody>;
export type CheckAnswer = InferOutput<typeof reason.checkAnswer>;
export type Question = InferOutput<typeof reason.parseAnswer>;
export type Interaction = InferOutput<typeof reason.interaction>;

export type NewMemory = InferInput<typeof memory.rememberBody>;
export type Remembered = InferOutput<typeof memory.rememberAnswer>;
export type Successor = InferInput<typeof memory.supersedeBody>;
export type Superseded = InferOutput<typeof memory.supersedeAnswer>;
export type RecallInput = Omit<InferInput<typeof memory.recallBody>, 'times'>;
export type Recalled = InferOutput<typeof memory.recallAnswer>;
export type RecalledMemory = Recalled['memories'][number];
export type HistoryInput = Omit<InferInput<typeof memory.historyBody>, 'times'>;
export type MemoryHistory = InferOutput<typeof memory.historyAnswer>;
export type MemoryVersion = MemoryHistory['memories'][number];

export type VirtualBackends = InferOutput<typeof virtual.backendList>;
export type NewVirtualGraph = InferInput<typeof virtual.graphBody>;
export type VirtualGraph = InferOutput<typeof virtual.storedGraph>;
export type VirtualGraphList = InferOutput<typeof virtual.graphList>;
export type DeletedVirtualGraph = InferOutput<typeof virtual.deletedGraph>;
export type ClearedVirtualCache = InferOutput<typeof virtual.clearedCache>;
export type ProposeVirtualGraph = InferInput<typeof virtual.proposeBody>;
export type ProposedVirtualGraph = InferOutput<typeof virtual.proposeAnswer>;
export type VirtualSchema = InferOutput<typeof virtual.introspectAnswer>;
export type CompiledVirtualQuery = InferOutput<typeof virtual.compileAnswer>;
export type VirtualQueryOptions = Omit<InferInput<typeof virtual.queryBody>, 'query' | 'times'>;
export type VirtualHyperedge = InferOutput<typeof virtual.hyperedge>;
export type VirtualQueryAnswer = InferOutput<typeof virtual.queryAnswer>;
export type MaterializeVirtualQuery = InferInput<typeof virtual.materializeBody>;
export type MaterializedVirtualQuery = InferOutput<typeof virtual.materializeAnswer>;

export type Health = InferOutput<typeof health.healthAnswer>;
export type Live = InferOutput<typeof health.liveAnswer>;
export type Ready = InferOutput<typeof health.readyAnswer>;

export type Index = InferOutput<typeof indexes.indexItem>;
export type NewIndex = InferInput<typeof indexes.indexBody>;
export type DroppedIndex = InferOutput<typeof indexes.dropIndexAnswer>;
export type DroppedTextIndex = InferOutput<typeof indexes.dropTextIndexAnswer>;

export type BackupInput = InferInput<typeof backup.backupBody>;
export type BackupAnswer = InferOutput<typeof backup.backupAnswer>;

export type Key = InferOutput<typeof keys.keyItem>;
export type NewKey = InferInput<typeof keys.keyBody>;
export type CreatedKey = InferOutput<typeof keys.createdKey>;
export type RevokedKey = InferOutput<typeof keys.revokeAnswer>;
