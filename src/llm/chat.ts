// The port to a language model: one prompt in, one text out.

export interface Prompt {
  /** What the model is to do and to keep to. */
  readonly system: string;
  /** The question and the context lines. */
  readonly user: string;
}

export interface Completion {
  /** Untrusted: whatever the model wrote, the keys of this service masked. May be empty. */
  readonly text: string;
  /** As the model calls itself, else as it was asked for. */
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface LanguageModel {
  /** The name it is asked for by. */
  readonly name: string;
  /** Fails with `model_failed`, `invalid_model_address`, or the reason of the signal. */
  complete(prompt: Prompt, signal?: AbortSignal): Promise<Completion>;
}
