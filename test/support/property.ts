// Provides fast-check with a fixed seed, so that a failing test fails every time. HEDGEROW_SEED=N
// runs other cases.

import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.HEDGEROW_SEED ?? 1) });

export { fc };
