// The public interface of the language models.

export { isSameAddress } from './address.ts';
export type { Completion, LanguageModel, Prompt } from './chat.ts';
export { type ChatOptions, type ChatPorts, createChatModel } from './chat-client.ts';
export { maskKey } from './mask-key.ts';
export { createMockModel } from './mock-model.ts';
export { type KeyChoice, keyFor } from './model-key.ts';
export { countTokens, loadTokens, tokenSteps } from './tokens.ts';
