import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wranglerProgram } from './support/paths.ts'
import { startNode } from './support/processes.ts'
import { runTests, type Tests } from './support/tests.ts'

// The argument `slow` runs the slow tests instead of everything else.
const isSlow = process.argv[2] === 'slow'

const quit = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => quit.abort())

const folder = await mkdtemp(join(tmpdir(), 'check-'))
const program = (...path: string[]) => join(import.meta.dirname, '..', 'node_modules', ...path)
const env: Record<string, string> = {
  NO_COLOR: '1',
  FORCE_COLOR: '0',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
}

interface Outcome {
  hasPassed: boolean
  /** Printed unless it is empty. */
  output: string
  tests?: Tests
}

const node = (args: string[]) => async (): Promise<Outcome> => {
  const { code, output } = await startNode(args, { env, signal: quit.signal }).ended
  return { hasPassed: code === 0, output: code === 0 ? '' : output }
}

const vitest = (args: string[]) => async (): Promise<Outcome> => {
  const { hasPassed, output, tests, passedAlone } = await runTests(args, { folder, env, signal: quit.signal })
  if (!hasPassed) return { hasPassed, output, tests }
  return {
    hasPassed,
    output: passedAlone.map((name) => `       passed only when it ran alone: ${name}`).join('\n'),
    tests,
  }
}

const fast: [name: string, step: () => Promise<Outcome>][] = [
  ['format', node([program('oxfmt', 'bin', 'oxfmt'), '--check', '.'])],
  ['lint', node([program('oxlint', 'bin', 'oxlint'), '--type-aware', '--deny-warnings'])],
  ['unused', node([program('knip', 'bin', 'knip.js'), '--no-progress', '--treat-config-hints-as-errors'])],
  ['binding types', node([wranglerProgram, 'types', '--include-runtime=false', '--strict-vars=false', '--check'])],
  ['types', node([program('typescript', 'bin', 'tsc')])],
  ['browser types', node([program('typescript', 'bin', 'tsc'), '-p', join('packages', 'table-reader')])],
  ['client types', node([program('typescript', 'bin', 'tsc'), '-p', join('packages', 'client')])],
  ['command line', node([program('typescript', 'bin', 'tsc'), '-p', join('packages', 'client', 'cli')])],
  ['console types', node([program('typescript', 'bin', 'tsc'), '-p', join('packages', 'console')])],
  ['schema', node([join(import.meta.dirname, 'schema.ts'), '--check'])],
  ['client', node([join(import.meta.dirname, 'client.ts'), '--check'])],
  ['readme', node([join(import.meta.dirname, 'readme.ts'), '--check'])],
  ['document', node([join(import.meta.dirname, 'lint-document.ts')])],
  ['tests', vitest(['--project=document', '--project=unit', '--project=worker-shared', '--project=worker'])],
  ['bundle', node([wranglerProgram, 'deploy', '--dry-run', '--outdir', join(folder, 'bundle')])],
]
const slow: typeof fast = [
  ['slow tests', vitest(['--project=slow', '--project=console', '--project=slow-worker', '--project=unit'])],
]

// npm test keeps one seed, so that it fails only when the code changes.
if (isSlow) {
  env.PROPERTY_SEED = String(randomInt(2 ** 31))
  env.PROPERTY_RUNS = 'all'
  env.CEL_EXPRESSIONS = '1000'
  console.log(`PROPERTY_SEED=${env.PROPERTY_SEED}`)
}

let tests: Tests = { passed: 0, failed: 0 }
for (const [name, step] of isSlow ? slow : fast) {
  const started = performance.now()
  const outcome = await step()
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${outcome.hasPassed ? 'ok    ' : 'FAILED'} ${name.padEnd(14)} ${seconds.padStart(6)} s`)
  if (outcome.output) console.log(outcome.output)
  if (outcome.tests) tests = outcome.tests
  if (outcome.hasPassed) continue
  process.exitCode = 1
  break
}
await rm(folder, { recursive: true, force: true })
console.log(`tests: ${tests.passed} passed, ${tests.failed} failed`)
