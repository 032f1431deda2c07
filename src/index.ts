// `hedgerow`: the embedded database, its statements, measures, rules, reasoning and virtual graphs, without HTTP.

export {
  Analytics,
  type AnalyticsOptions,
  type Basis,
  MeasureAnswer,
  type MeasureItem,
  type MeasureValue,
  type RunOptions,
} from './analytics/index.ts';
export * from './engine/index.ts';
export { HedgerowError } from './errors.ts';
export { isoSeconds, isoTime } from './iso-time.ts';
export {
  type EmbeddedOptions as StatementsOptions,
  EmbeddedStatements as Statements,
  type RunningStatement,
  type StatementAnswer,
  type StatementOptions,
  type StatementParameters,
  type StatementRow,
} from './query/embedded.ts';
export {
  type Answered,
  type CheckRequest,
  type CheckResult,
  type ClaimVerdict,
  type Derived,
  type ModelSettings,
  type Question,
  type RagRequest,
  type RagResult,
  Reasoning,
  type ReasoningOptions,
  type ReasonRequest,
  type ReasonResult,
  type RunMeasure,
  type StepRunner,
} from './rag/index.ts';
export {
  BaseFacts,
  type CheckOptions,
  type Constant,
  checkProof,
  type EvaluateLimits,
  evaluate,
  knownOfEdges,
  Model,
  type Proof,
  type ProofTags,
  proofChecker,
  proofSteps,
  type Rule,
  type RuleSet,
  RuleStore,
  readRuleSet,
} from './rules/index.ts';
export { Scheduler, type SchedulerFigures } from './schedule/scheduler.ts';
export type { Steps } from './schedule/steps.ts';
export {
  type HydratedEdge,
  type Materialized,
  type MaterializeRequest,
  type ProposeAnswer,
  type ProposeRequest,
  type QueryRequest,
  type RefineProposal,
  type RunningQuery,
  VirtualGraphs,
  type VirtualOptions,
} from './virtual/index.ts';
export type { BackendSpec, VirtualGraph, VirtualSpec } from './virtual/spec/spec.ts';
