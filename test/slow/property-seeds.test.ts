import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../scripts/support/paths.ts'
import { startNode } from '../../scripts/support/processes.ts'

const usesProperties = (path: string) =>
  /from 'fast-check'|env\.CEL_EXPRESSIONS/.test(readFileSync(join(root, path), 'utf8'))

// npm test keeps one seed, so that it fails only when the code changes.
it('the properties hold for a new random seed', async () => {
  const seed = String(Math.floor(Math.random() * 2 ** 31))
  console.log(`PROPERTY_SEED=${seed}`)
  const files = globSync(['test/{api,jobs,unit,slow/worker}/**/*.test.ts', 'packages/*/test/**/*.test.ts'], {
    cwd: root,
  }).filter(usesProperties)
  expect(files.length).toBeGreaterThan(40)
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const projects = ['unit', 'worker-shared', 'worker', 'slow-worker'].map((name) => `--project=${name}`)
  const { code, output } = await startNode([vitest, 'run', '--testTimeout=180000', ...projects, ...files], {
    env: {
      PROPERTY_SEED: seed,
      PROPERTY_RUNS: 'all',
      CEL_EXPRESSIONS: '1000',
      VITEST: undefined,
      VITEST_POOL_ID: undefined,
      VITEST_WORKER_ID: undefined,
      NODE_ENV: undefined,
    },
  }).ended
  expect(code, `PROPERTY_SEED=${seed}\n${output}`).toBe(0)
}, 900_000)
