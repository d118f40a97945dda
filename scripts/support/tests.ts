export interface Tests {
  passed: number
  failed: number
}

interface Report {
  numPassedTests: number
  numFailedTests: number
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

/** Counts of vitest's report. A file that fails outside its tests counts as one failed test, and so does a run without a report. */
export function countTests(report: string | null, isWell: boolean): Tests {
  if (report === null) return { passed: 0, failed: isWell ? 0 : 1 }
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(report) as Report
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const failed = numFailedTests + broken.length
  return { passed: numPassedTests, failed: isWell ? failed : Math.max(failed, 1) }
}

export const testsLine = ({ passed, failed }: Tests): string => `tests: ${passed} passed, ${failed} failed`
