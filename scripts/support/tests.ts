import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { root } from './paths.ts'
import { startNode } from './processes.ts'

export interface Tests {
  passed: number
  failed: number
}

export interface TestRun {
  tests: Tests
  /** The output of the run, failures first. */
  output: string
  hasPassed: boolean
  /** Files that failed among the others, and passed when they ran alone. */
  passedAlone: string[]
}

interface Report {
  numPassedTests: number
  numFailedTests: number
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[]
}

interface Options {
  /** An empty folder for reports. */
  folder: string
  signal: AbortSignal
  env: Record<string, string>
}

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
/** More failed files than this are not caused by a busy machine. */
const mostAlone = 4

/**
 * Runs projects of vitest. A few files that fail run once more, each alone, because a busy machine can make a test
 * late. A file that passes then does not fail the run. It is named, because it needs to be fixed.
 */
export async function runTests(args: readonly string[], options: Options): Promise<TestRun> {
  const fullRun = await runVitest(args, 'whole', options)
  const { hasPassed, output } = fullRun
  const tests = countTests(fullRun.report, hasPassed)
  const failed = fullRun.report?.testResults.filter(({ status }) => status === 'failed') ?? []
  const names = failed.map(({ name }) => relative(root, name))
  if (hasPassed || names.length === 0 || names.length > mostAlone) return { tests, output, hasPassed, passedAlone: [] }

  for (const [index, name] of names.entries()) {
    const alone = await runVitest([...args, name], `alone-${index}`, options)
    if (alone.hasPassed) continue
    return { tests, output: `${name} fails alone too.\n${alone.output}\n${output}`, hasPassed, passedAlone: [] }
  }
  return { tests: { passed: tests.passed + tests.failed, failed: 0 }, output, hasPassed: true, passedAlone: names }
}

async function runVitest(args: readonly string[], name: string, { folder, signal, env }: Options) {
  const file = join(folder, `${name}.json`)
  const reporters = ['--reporter=agent', '--reporter=json', `--outputFile.json=${file}`]
  const { code, output } = await startNode([vitest, 'run', ...args, ...reporters], { env, signal }).ended
  const text = await readFile(file, 'utf8').catch(() => null)
  return { hasPassed: code === 0, output, report: text === null ? null : (JSON.parse(text) as Report) }
}

/** Counts of a report. A file that fails outside its tests counts as one failed test, and so does a run without a report. */
function countTests(report: Report | null, hasPassed: boolean): Tests {
  if (report === null) return { passed: 0, failed: hasPassed ? 0 : 1 }
  const { numPassedTests, numFailedTests, testResults } = report
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const failed = numFailedTests + broken.length
  return { passed: numPassedTests, failed: hasPassed ? failed : Math.max(failed, 1) }
}
