import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { mintSignupToken } from '../../../src/domain/consents/signups.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/domain/time/instants.ts'
import { sweepSignups } from '../../../src/modules/signup-forms/jobs.ts'
import { post } from '../../support/api.ts'
import { linkKey } from '../../support/consent-pages.ts'
import { createContextAt } from '../../support/context.ts'
import { givenForm } from '../../support/seeding/messaging/signup-forms.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedBuyer } from '../../support/seeding/sales/trades.ts'
import { confirm, findCustomer, freshAddress, listRequests, signUp } from '../../support/signups.ts'

afterEach(() => vi.restoreAllMocks())

type Reason = 'unsubscribed' | 'complaint'

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('sign up' as const),
      form: fc.nat(1),
      times: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('confirm' as const),
      at: fc.nat(),
      times: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(5 * minuteMs, hourMs, 6 * dayMs, 25 * dayMs),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('suppress' as const),
      reason: fc.constantFrom<Reason>('unsubscribed', 'complaint'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), form: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
)

interface ModelRequest {
  id: string
  form: number
  at: number
  isConfirmed: boolean
}

it('a sign-up gives its consents exactly when its link is confirmed, and mails keep their distance', async () => {
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 20 }), async (steps) => {
      const shop = await seedBuyer()
      const forms = [await givenForm(shop), await givenForm({ organization: shop.organization, edition: null })]
      const email = freshAddress()
      const mailTimes: number[] = []
      const requests: ModelRequest[] = []
      const statuses = ['none', 'none']
      let suppression = null as { reason: Reason; at: number } | null
      const mayAsk = (): boolean => {
        if (mailTimes.some((at) => at > now - hourMs)) return false
        if (suppression === null) return true
        const { reason, at: since } = suppression
        return reason === 'unsubscribed' && !mailTimes.some((at) => at >= since && at > now - 30 * dayMs)
      }
      for (const action of steps) {
        now += 1
        if (action.kind === 'wait') now += action.ms
        if (action.kind === 'sweep') await sweepSignups(createContextAt(now))
        if (action.kind === 'suppress' && suppression?.reason !== 'complaint') {
          suppression = { reason: action.reason, at: suppression?.at ?? now }
          await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
            values (${shop.organization}, 'email', ${email}, ${action.reason}, ${now})
            on conflict do update set reason = excluded.reason`)
        }
        if (action.kind === 'sign up') {
          const { form, consent, path } = forms[action.form] as (typeof forms)[number]
          const isAsked = mayAsk()
          const earlierIds = new Set((await listRequests(form.id)).map(({ id }) => id))
          const replies = await Promise.all(
            Array.from({ length: action.times }, () => signUp(path, { email, consent: consent.id })),
          )
          expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
          const added = (await listRequests(form.id)).filter(
            ({ id, address }) => !earlierIds.has(id) && address !== null,
          )
          expect(added).toHaveLength(isAsked ? 1 : 0)
          if (isAsked) mailTimes.push(now)
          for (const { id } of added) requests.push({ id, form: action.form, at: now, isConfirmed: false })
        }
        if (action.kind === 'confirm' && requests.length > 0) {
          const request = requests[action.at % requests.length] as ModelRequest
          const link = `/signup/confirm/${mintSignupToken(linkKey, request.id)}`
          const isOpen = now < request.at + 7 * dayMs
          const replies = await Promise.all(Array.from({ length: action.times }, () => confirm(link)))
          expect(replies.map(({ status }) => status)).toEqual(replies.map(() => (isOpen ? 200 : 404)))
          if (isOpen && !request.isConfirmed) {
            request.isConfirmed = true
            statuses[request.form] = 'given'
            if (suppression?.reason === 'unsubscribed') suppression = null
          }
        }
        const customer = await findCustomer(shop.organization, email)
        if (action.kind === 'withdraw' && customer && statuses[action.form] === 'given') {
          const consent = forms[action.form]?.consent.id
          const body = { language: 'en', method: 'admin', source: 'support' }
          expect((await post(`/v1/user/${customer.id}/consents/${consent}/withdraw`, body)).status).toBe(200)
          statuses[action.form] = 'withdrawn'
        }
        expect(customer !== undefined).toBe(requests.some(({ isConfirmed }) => isConfirmed))
        const stored = await db.all(sql<{ consent_id: string; status: string }>`select consent_id, status
          from consent_records where user_id = ${customer?.id ?? ''} and is_latest = 1`)
        expect(
          forms.map(({ consent }) => stored.find((row) => row.consent_id === consent.id)?.status ?? 'none'),
        ).toEqual(statuses)
        const [suppressed] = await db.all(
          sql<{ reason: string }>`select reason from suppressions where address = ${email}`,
        )
        expect(suppressed?.reason).toBe(suppression?.reason)
      }
    }),
    { numRuns: 25 },
  )
})
