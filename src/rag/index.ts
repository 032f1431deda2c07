// The door of reasoning: questions in words, rules over the edges they mean, answers whose every sentence is supported.

import type { Database, Table } from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { countTokens, createChatModel, createMockModel, keyFor, type LanguageModel } from '../llm/index.ts';
import { enabledOf, type RuleSet, RuleStore, readRuleSet } from '../rules/index.ts';
import { Interactions } from './interactions.ts';
import { keptInteraction } from './kept-interaction.ts';
import { answerQuestion, reason, type Tools } from './pipeline.ts';
import type { Question } from './question/question.ts';
import { understand } from './question/understand.ts';
import { writtenDate } from './question/written-dates.ts';
import type { Answered, RagRequest, RagResult, ReasonRequest, ReasonResult, Turns } from './request.ts';
import { Stopwatch } from './stopwatch.ts';

export type { Derived } from './derived.ts';
export type { Question } from './question/question.ts';
export {
  type Answered,
  MODES,
  type RagRequest,
  type RagResult,
  type ReasonRequest,
  type ReasonResult,
  type Turns,
} from './request.ts';

/** The configured language model (contract section 7). */
export interface ModelSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly allowedHosts: readonly string[];
}

export interface ReasoningOptions {
  database: Database;
  model: ModelSettings;
  /** Epoch milliseconds. */
  now: () => number;
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number;
  /** A new id, hard to guess. */
  newId: () => string;
}

export class Reasoning {
  readonly rules: RuleStore;
  readonly #options: ReasoningOptions;
  readonly #interactions = new Interactions();
  #isReady = false;
  /** Of the stored set that it was made from. */
  #enabled: { stored: RuleSet; enabled: RuleSet } | undefined;

  /** Throws `corrupt` when the stored rules are no rule set. */
  constructor(options: ReasoningOptions) {
    this.#options = options;
    this.rules = new RuleStore(options.database.documents);
  }

  /** What retrieval understands of a text. Throws `table_not_found`. */
  parse(query: string, tableName: string | undefined): Question {
    const table = this.#options.database.table(tableName);
    return understand(query, { name: table.name, columns: table.item().columns }, this.#options.now());
  }

  /** Rejects `invalid_input` (the table too), `invalid_rule`, `too_many_facts`, `table_corrupt`, and what ends the turns. */
  async reason(request: ReasonRequest, turns: Turns): Promise<Answered<ReasonResult>> {
    const table = this.#tableToReason(request.table);
    const rules = this.#rulesOf(request.rules);
    return reason(request, this.#tools(table, rules, undefined, turns));
  }

  /** Rejects as `reason`, an unknown table as `table_not_found`; and `invalid_model_address`, `model_failed`. */
  async ask(request: RagRequest, turns: Turns): Promise<Answered<RagResult>> {
    const table = this.#options.database.table(request.table);
    // Looked at in every mode: what is wrong with them is told, used or not.
    const rules = this.#rulesOf(request.rules);
    const model = request.mode === 'symbolic' ? undefined : this.#modelOf(request);
    await turns.run(this.#readied());
    const tools = this.#tools(table, request.mode === 'neuro' ? undefined : rules, model, turns);
    const answer = await answerQuestion(request, tools);
    const kept = await turns.run(keptInteraction(request, answer, this.#options.now()));
    await this.#interactions.keep(answer.result.interaction_id, kept);
    return answer;
  }

  /** JSON text. Rejects `interaction_not_found`. */
  interaction(id: string): Promise<string> {
    return this.#interactions.text(id);
  }

  /** Loads what the first question needs, before its stages are timed. Not at start: 70 MB that a service without questions never needs. */
  *#readied(): Generator<void, void, void> {
    if (this.#isReady) return;
    this.#isReady = true;
    writtenDate('1 May 2020', 0);
    yield;
    countTokens('a');
  }

  #tools(table: Table, rules: RuleSet | undefined, model: LanguageModel | undefined, turns: Turns): Tools {
    const { now, monotonicMs, newId } = this.#options;
    return { table, rules, model, turns, nowMs: now, stopwatch: new Stopwatch(monotonicMs), newId };
  }

  #tableToReason(name: string | undefined): Table {
    try {
      return this.#options.database.table(name);
    } catch (error) {
      if (!(error instanceof HedgerowError) || error.code !== 'table_not_found') throw error;
      throw refusal('invalid_input', error.message, {
        errors: [{ loc: ['body', 'table'], msg: 'must be the name of a table' }],
      });
    }
  }

  #rulesOf(given: readonly unknown[] | undefined): RuleSet {
    if (given !== undefined) return enabledOf(readRuleSet(given, ['body', 'rules']));
    const stored = this.rules.set();
    if (this.#enabled?.stored !== stored) this.#enabled = { stored, enabled: enabledOf(stored) };
    return this.#enabled.enabled;
  }

  #modelOf({ mock, model, baseUrl, apiKey }: RagRequest): LanguageModel {
    if (mock) return createMockModel();
    const { model: settings } = this.#options;
    return createChatModel({
      baseUrl: baseUrl ?? settings.baseUrl,
      model: model ?? settings.model,
      apiKey: keyFor({
        requestedBaseUrl: baseUrl,
        requestedKey: apiKey,
        configuredBaseUrl: settings.baseUrl,
        configuredKey: settings.apiKey,
      }),
      allowedHosts: settings.allowedHosts,
    });
  }
}
