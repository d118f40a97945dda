import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFailure } from '../../src/domain/messaging/messaging.ts'
import { sweepEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { createProvider, createReceiptEngine } from '../support/receipts.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { givenTestDesk, listTests, sendTest, type TestDesk } from '../support/test-messages.ts'

const minute = 60_000
const trips = Array.from({ length: 12 }, (_, index) => index)

beforeEach(() => db.all(sql`delete from transactional_emails`))

/** Asks for a test to three members, and returns their addresses. */
async function requestTest(desk: TestDesk, languages: string[]): Promise<string[]> {
  const { email } = await givenMember({ id: desk.organization }, 'viewer')
  const to = [desk.manager.email, desk.editionManager.email, email]
  expect((await sendTest(desk.message, { to, languages })).status).toBe(200)
  return to
}

/** Lets time pass without further crashes until every message has ended. */
async function runToEnd(desk: TestDesk, engine: ReturnType<typeof createReceiptEngine>): Promise<void> {
  const isOpen = async () => (await listTests(desk.organization)).some(({ status }) => status === 'pending')
  for (let turn = 0; turn < 8 && (await isOpen()); turn++) {
    engine.advance(130 * minute)
    await sweepEmails(engine.job)
    await engine.runUntilCrash()
  }
}

describe('test messages whose consumer crashes', () => {
  it.each(trips)('at round trip %i are sent once to a provider that deduplicates', async (trip) => {
    const desk = await givenTestDesk()
    const to = await requestTest(desk, ['en', 'da'])
    const provider = createProvider({ deduplicates: true })
    const engine = createReceiptEngine(provider.gateway, Date.now() + 1000)
    provider.play(['accept', 'accept and die', 'die', 'accept and lose the answer'])
    await engine.runUntilCrash(trip)
    provider.play([])
    await runToEnd(desk, engine)
    expect(Object.fromEntries(provider.accepted)).toEqual(Object.fromEntries(to.map((address) => [address, 2])))
    expect(await listTests(desk.organization)).toMatchObject(
      Array.from({ length: 6 }, () => ({ status: 'sent', content: null })),
    )
  })

  it.each(trips)('at round trip %i are never sent twice by a provider that does not deduplicate', async (trip) => {
    const desk = await givenTestDesk()
    const to = await requestTest(desk, ['en'])
    const provider = createProvider({ deduplicates: false })
    const engine = createReceiptEngine(provider.gateway, Date.now() + 1000)
    provider.play(['accept and die', createFailure('transient', 'http_503', ''), 'die'])
    await engine.runUntilCrash(trip)
    provider.play([])
    await runToEnd(desk, engine)
    for (const { recipient, status, error_code, content } of await listTests(desk.organization)) {
      expect(content).toBeNull()
      if (status === 'sent') expect(provider.accepted.get(recipient)).toBe(1)
      else expect([status, error_code]).toEqual(['failed', 'unknown'])
    }
    expect(to.filter((address) => (provider.accepted.get(address) ?? 0) > 1)).toEqual([])
  })
})
