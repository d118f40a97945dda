import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import type { Finding, Query } from '../../scripts/support/verify/query.ts'
import { listChecks } from '../../scripts/support/verify/verify.ts'

export const queryDatabase: Query = async <Row>(text: string) => (await env.DB.prepare(text).all<Row>()).results

export async function* listBucketKeys(prefix: string): AsyncGenerator<string[]> {
  let cursor: string | undefined
  do {
    const page = await env.FILES.list({ prefix, ...(cursor ? { cursor } : {}), limit: 2 })
    yield page.objects.map(({ key }) => key)
    cursor = page.truncated ? page.cursor : undefined
  } while (cursor)
}

/** Runs all checks of `npm run verify`, or the one with a title. */
export async function listFindings(
  title?: string,
  { size = 3, files = listBucketKeys }: { size?: number; files?: typeof listBucketKeys | string } = {},
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of listChecks({ query: queryDatabase, size, files }))
    if ((title ?? check.title) === check.title) findings.push(...(await check.run()))
  return findings
}

/** Expects that the database agrees with itself. Tests share the file store, so it is not compared. */
export async function expectVerified(): Promise<void> {
  const findings = await listFindings(undefined, { size: 1000, files: 'Tests share the file store.' })
  expect(findings.filter(({ faultCount }) => faultCount > 0).map(({ title, faults }) => [title, faults])).toEqual([])
}
