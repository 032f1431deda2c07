// Types of run-vectors.js, which browsers and other hosts run unchanged.

import type { Step } from './vectors.ts';

export function runVectors(wasm: Uint8Array, vectors: readonly Step[]): Promise<string[]>;
