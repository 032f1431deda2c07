import { configDefaults, defineConfig } from 'vitest/config';
import { LONG_TESTS } from './test/long-tests.ts';

/** Small tests of large programs. They share a process: loading the modules anew for each file takes more than the tests. Elsewhere that would slow down what computes. */
const TOGETHER = ['access', 'client', 'http', 'observe', 'virtual'].map((folder) => `test/${folder}/**/*.test.ts`);

/** `npm test` runs `alone` and `together`, `npm run test:long` the files that take longer. */
export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: 'test/slow-steps.ts',
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...TOGETHER, ...LONG_TESTS],
        },
      },
      {
        extends: true,
        test: { name: 'together', include: TOGETHER, exclude: [...configDefaults.exclude, ...LONG_TESTS], isolate: false },
      },
      { extends: true, test: { name: 'long', include: [...LONG_TESTS] } },
    ],
  },
});
