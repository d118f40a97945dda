import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wranglerProgram } from './support/paths.ts'
import { startNode } from './support/processes.ts'
import { countTests, type Tests, testsLine } from './support/tests.ts'

const quit = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => quit.abort())

const folder = await mkdtemp(join(tmpdir(), 'check-'))
const report = join(folder, 'tests.json')
const program = (...path: string[]) => join(import.meta.dirname, '..', 'node_modules', ...path)

const steps: [name: string, args: string[]][] = [
  ['format', [program('oxfmt', 'bin', 'oxfmt'), '--check', '.']],
  ['lint', [program('oxlint', 'bin', 'oxlint'), '--type-aware', '--deny-warnings']],
  ['binding types', [wranglerProgram, 'types', '--include-runtime=false', '--strict-vars=false', '--check']],
  ['types', [program('typescript', 'bin', 'tsc')]],
  ['readme', [join(import.meta.dirname, 'readme.ts'), '--check']],
  ['document', [join(import.meta.dirname, 'lint-document.ts')]],
  [
    'tests',
    [
      program('vitest', 'vitest.mjs'),
      'run',
      '--project=document',
      '--project=unit',
      '--project=worker-shared',
      '--project=worker',
      '--reporter=agent',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
  ],
  ['bundle', [wranglerProgram, 'deploy', '--dry-run', '--outdir', join(folder, 'bundle')]],
]

const env = { NO_COLOR: '1', FORCE_COLOR: '0', WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }

/** Answers whether the step went well, and prints what it said if not. */
async function run(name: string, args: string[]): Promise<boolean> {
  const started = performance.now()
  const { code, output } = await startNode(args, { env, signal: quit.signal }).ended
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(14)} ${seconds.padStart(6)} s`)
  if (code !== 0) console.log(output)
  return code === 0
}

let tests: Tests = { passed: 0, failed: 0 }
for (const [name, args] of steps) {
  const isWell = await run(name, args)
  if (name === 'tests') tests = countTests(await readFile(report, 'utf8').catch(() => null), isWell)
  if (isWell) continue
  process.exitCode = 1
  break
}
await rm(folder, { recursive: true, force: true })
console.log(testsLine(tests))
