import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { AppError } from '../../../src/domain/errors.ts'
import {
  buildOwnershipRecord,
  senderDomainLifecycle,
  type SenderDomainStatus,
} from '../../../src/domain/messaging/sender-domains.ts'
import type { TxtLookup } from '../../../src/gateways/dns/dns.ts'
import { createSenderDomain } from '../../../src/modules/sender-domains/create.ts'
import { deleteSenderDomain } from '../../../src/modules/sender-domains/delete.ts'
import { isVerifiedSender } from '../../../src/modules/sender-domains/index.ts'
import type { SenderDomainRow } from '../../../src/modules/sender-domains/queries.ts'
import { verifySenderDomain } from '../../../src/modules/sender-domains/verify.ts'
import { createContextAt } from '../../support/context.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { db, next } from '../../support/seeding/rows.ts'

/** Three organisations and one domain. */
const organisations = [0, 1, 2] as const

interface Step {
  do: 'create' | 'delete' | 'verify' | 'by hand' | 'toggle record' | 'break' | 'mend'
  who: number
}

const weighted = (weight: number, ...kinds: Step['do'][]) => ({ weight, arbitrary: fc.constantFrom(...kinds) })

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.oneof(
    weighted(6, 'verify'),
    weighted(5, 'toggle record'),
    weighted(3, 'mend'),
    weighted(1, 'create', 'delete', 'by hand', 'break'),
  ),
  who: fc.constantFrom(...organisations),
})

/** Checks what must be true of an organisation's domain. */
interface Expected {
  status: SenderDomainStatus
  by: 'dns' | 'superuser' | null
}

class Domain {
  readonly name = `nordlys-${next()}.example`
  readonly ids: string[] = []
  /** Tokens whose DNS record exists. */
  readonly records = new Set<string>()
  answers = true
  readonly expected = new Map<number, Expected>()

  readonly ctx = {
    ...createContextAt(Date.now()),
    dns: {
      lookUpTxt: async (): Promise<TxtLookup> => {
        if (!this.answers) return { ok: false, code: 'timeout' }
        return { ok: true, texts: [...this.records].map((token) => buildOwnershipRecord({ domain: '', token }).value) }
      },
    },
  }

  row = (who: number): Promise<SenderDomainRow | undefined> =>
    db.first(
      sql<SenderDomainRow>`select * from sender_domains where organization_id = ${this.ids[who]} and domain = ${this.name}`,
    )

  /** Predicts the result of verifying, or null when it is refused. */
  async predict(who: number, row: SenderDomainRow): Promise<Expected | null> {
    const mine = this.expected.get(who) as Expected
    if (!this.answers || mine.by === 'superuser') return mine
    if (!this.records.has(row.token)) return { status: 'pending', by: null }
    const [holder] = [...this.expected].find(([other, { status }]) => other !== who && status === 'verified') ?? []
    if (holder === undefined) return { status: 'verified', by: 'dns' }
    const token = (await this.row(holder))?.token ?? ''
    if (this.expected.get(holder)?.by === 'superuser' || this.records.has(token)) return null
    this.expected.set(holder, { status: 'pending', by: null })
    return { status: 'verified', by: 'dns' }
  }

  async verify(who: number, row: SenderDomainRow): Promise<void> {
    const wanted = await this.predict(who, row)
    const result = verifySenderDomain(this.ctx, row, { by_hand: false })
    if (wanted === null) return expect(result).rejects.toMatchObject({ code: 'sender_domain_taken' })
    await result
    this.expected.set(who, wanted)
  }

  async verifyByHand(who: number, row: SenderDomainRow): Promise<void> {
    const isTaken = [...this.expected].some(([other, { status }]) => other !== who && status === 'verified')
    const result = verifySenderDomain(this.ctx, row, { by_hand: true })
    if (isTaken) return expect(result).rejects.toBeInstanceOf(AppError)
    await result
    this.expected.set(who, { status: 'verified', by: 'superuser' })
  }

  async take(one: Step): Promise<void> {
    const { who } = one
    if (one.do === 'break' || one.do === 'mend') {
      this.answers = one.do === 'mend'
      return
    }
    const row = await this.row(who)
    if (one.do === 'create') {
      const result = createSenderDomain(this.ctx, this.ids[who] ?? '', { domain: this.name })
      if (row) return expect(result).rejects.toMatchObject({ code: 'validation_error' })
      await result
      this.expected.set(who, { status: 'pending', by: null })
    }
    if (!row) return
    if (one.do === 'verify') await this.verify(who, row)
    if (one.do === 'by hand') await this.verifyByHand(who, row)
    if (one.do === 'toggle record' && !this.records.delete(row.token)) this.records.add(row.token)
    if (one.do === 'delete') {
      await deleteSenderDomain(this.ctx, row)
      this.expected.delete(who)
    }
  }

  async check(): Promise<void> {
    const address = `Hello@${this.name}`
    const rows = await db.all(sql<SenderDomainRow & { is_good: number }>`select sender_domains.*,
        ${isVerifiedSender(sql`organizations.id`, sql`${address}`)} as is_good, organizations.id as organization_id
      from organizations left join sender_domains
        on sender_domains.organization_id = organizations.id and sender_domains.domain = ${this.name}
      where organizations.id in (select value from json_each(${JSON.stringify(this.ids)}))`)
    const storedDomains = this.ids.map((id) => rows.find((row) => row.organization_id === id))
    for (const [who, row] of storedDomains.entries()) {
      const wanted = this.expected.get(who)
      expect({ status: row?.status, by: row?.verified_by }).toEqual(wanted ?? { status: null, by: null })
      expect([row?.is_good, row?.verified_at === null]).toEqual(wanted?.status === 'verified' ? [1, false] : [0, true])
    }
    expect(rows.filter(({ is_good }) => is_good === 1).length).toBeLessThanOrEqual(1)
  }
}

it('a domain is verified exactly when the rules allow it, and for one organisation at most', async () => {
  const statuses = new Set<string>()
  const ids = await Promise.all(organisations.map(async () => (await givenOrganization()).id))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 30 }), async (steps) => {
      await db.all(sql`delete from sender_domains`)
      const domain = new Domain()
      domain.ids.push(...ids)
      const created = organisations.map((who): Step => ({ do: 'create', who }))
      for (const nextStep of [...created, ...steps]) {
        const before = new Map(domain.expected)
        await domain.take(nextStep)
        await domain.check()
        for (const [who, { status }] of domain.expected) {
          const from = before.get(who)?.status
          if (from && from !== status) {
            expect(senderDomainLifecycle.allows(from, status)).toBe(true)
            statuses.add(`${from} ${status}`)
          }
        }
      }
    }),
    { numRuns: 20 },
  )
  expect([...statuses].toSorted()).toEqual(['pending verified', 'verified pending'])
})
