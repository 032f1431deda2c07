import { configDefaults, defineConfig } from 'vitest/config';

/** Small tests of large programs. They share a process: loading the modules anew for each file takes more than the tests. Elsewhere that would slow down what computes. */
const TOGETHER = ['access', 'client', 'http', 'observe', 'virtual'].map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...TOGETHER],
        },
      },
      { extends: true, test: { name: 'together', include: TOGETHER, isolate: false } },
    ],
  },
});
