// Defines the interface to a language model: one prompt in, one text out.

export interface Prompt {
  /** What the model is to do and which rules it must follow. */
  readonly system: string;
  /** The question and the context lines. */
  readonly user: string;
}

export interface Completion {
  /** Untrusted text of the model, with the key that was sent masked. May be empty. */
  readonly text: string;
  /** The model's name in the answer, or the requested name if the answer contains none. */
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface LanguageModel {
  /** The name that requests use for this model. */
  readonly name: string;
  /**
   * Asks the model. Rejects with `model_failed`, `invalid_model_address`, or the signal's reason.
   */
  complete(prompt: Prompt, signal?: AbortSignal): Promise<Completion>;
}
