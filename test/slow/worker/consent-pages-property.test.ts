import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashRecord } from '../../../src/domain/consents/consent-records.ts'
import { sweepLapsed } from '../../../src/modules/consents/jobs.ts'
import { choose, listEvents, give, pageOf, listAllRecords } from '../../support/consent-pages.ts'
import { createContextAt } from '../../support/context.ts'
import { ask, readLink, listMails } from '../../support/double-opt-in.ts'
import { createProvider, createReceiptEngine } from '../../support/receipts.ts'
import { seedScene } from '../../support/seeding/customers.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { write } from '../../support/seeding/rows.ts'
import { visit } from '../../support/visits.ts'

type Step =
  | 'page gives'
  | 'page withdraws'
  | 'asked'
  | 'asked twice at once'
  | 'first link'
  | 'last link'
  | 'last link twice at once'
  | 'withdrawn by the team'
  | 'seven days'
  | 'two sweeps'
  | 'consumer dies'
  | 'consumer'

const steps: readonly Step[] = [
  'page gives',
  'page withdraws',
  'asked',
  'asked twice at once',
  'first link',
  'last link',
  'last link twice at once',
  'withdrawn by the team',
  'seven days',
  'two sweeps',
  'consumer dies',
  'consumer',
]

/**
 * Sequences that random steps rarely find: an old link after a new request, and requests that expire after each answer.
 */
const examples: [Step[]][] = [
  [['asked', 'consumer', 'withdrawn by the team', 'asked', 'first link']],
  [['page gives', 'page withdraws', 'asked', 'seven days', 'last link', 'two sweeps', 'asked', 'last link']],
  [
    [
      'asked',
      'seven days',
      'two sweeps',
      'first link',
      'asked twice at once',
      'consumer dies',
      'last link twice at once',
    ],
  ],
]

interface Model {
  state: 'none' | 'pending' | 'given' | 'skipped' | 'withdrawn'
  /** The answer that counts again when a request lapses. */
  before: 'none' | 'skipped' | 'withdrawn'
  isOver: boolean
  /** Requests that wrote a record, and which of them are still open. */
  requests: number
  waiting: number | null
  events: string[]
}

const recordAnswer = (model: Model, state: 'given' | 'withdrawn' | 'skipped') => {
  model.events.push(`consent.${state}`)
  Object.assign(model, { state, before: state === 'given' ? 'none' : state, waiting: null, isOver: false })
}

/** A lapsed request counts as the answer before it. */
const getState = (model: Model): Model['state'] => {
  if (model.state !== 'pending' || !model.isOver) return model.state
  return model.before === 'none' ? 'skipped' : model.before
}

function request(model: Model): void {
  const state = getState(model)
  if (state === 'pending' || state === 'given') return
  const before = state === 'none' ? 'none' : state
  Object.assign(model, { state: 'pending', before, isOver: false, waiting: model.requests })
  model.requests++
}

function follow(model: Model, link: number): void {
  if (getState(model) === 'pending' && model.waiting === link) recordAnswer(model, 'given')
}

describe('consents that pages and messages change in random order', () => {
  it('have the state of the model, an unbroken chain, and one event and one message for each change', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...steps), { minLength: 6, maxLength: 20 }), async (script) => {
        const scene = await seedScene()
        const consent = await givenConsent(scene.organization)
        const page = await pageOf(scene, scene.person)
        const provider = createProvider({ deduplicates: true })
        const engine = createReceiptEngine(provider.gateway, Date.now() + 5000)
        const model: Model = { state: 'none', before: 'none', isOver: false, requests: 0, waiting: null, events: [] }
        const links = () => [
          ...new Set(
            provider.calls
              .filter(({ email }) => email.to.address === scene.person.email)
              .map(({ email }) => readLink(email)),
          ),
        ]
        const open = async (index: number, times = 1) => {
          await engine.runNow()
          const path = links().at(index)
          if (!path) return
          await Promise.all(Array.from({ length: times }, () => visit(path, { method: 'POST' })))
          follow(model, index < 0 ? model.requests - 1 : index)
        }
        const act: Record<Step, () => Promise<unknown>> = {
          'page gives': async () => {
            if (getState(model) !== 'given') recordAnswer(model, 'given')
            await choose(page, { give: [consent.id] })
          },
          'page withdraws': async () => {
            if (getState(model) === 'given') recordAnswer(model, 'withdrawn')
            await choose(page, { withdraw: [consent.id] })
          },
          asked: async () => {
            request(model)
            await ask(scene, consent.id)
          },
          'asked twice at once': async () => {
            request(model)
            await Promise.all([ask(scene, consent.id), ask(scene, consent.id)])
          },
          'first link': () => open(0),
          'last link': () => open(-1),
          'last link twice at once': () => open(-1, 2),
          'withdrawn by the team': async () => {
            if (['given', 'pending'].includes(getState(model))) recordAnswer(model, 'withdrawn')
            await give(scene.person, consent.id, {}, 'withdraw')
          },
          'seven days': async () => {
            if (model.state === 'pending') model.isOver = true
            await write(sql`update consent_records set expires_at = 1 where user_id = ${scene.person.id}
              and status = 'pending' and is_latest = 1`)
          },
          'two sweeps': async () => {
            if (model.state === 'pending' && model.isOver) {
              const state = getState(model)
              if (model.before === 'none') model.events.push('consent.skipped')
              Object.assign(model, { state, before: state, waiting: null, isOver: false })
            }
            await Promise.all([sweepLapsed(createContextAt(Date.now())), sweepLapsed(createContextAt(Date.now()))])
          },
          'consumer dies': async () => {
            provider.play(['accept and die'])
            await engine.runUntilCrash(4)
            engine.advance(180_000)
            provider.play([])
          },
          consumer: () => engine.runNow(),
        }
        for (const step of script) await act[step]()
        engine.advance(180_000)
        await engine.runNow()

        const records = await listAllRecords(scene.person)
        expect(records.filter(({ is_latest }) => is_latest === 1)).toHaveLength(records.length ? 1 : 0)
        const last = records.at(-1)
        expect(last?.status ?? 'none').toBe(model.state)
        for (const [index, record] of records.entries()) {
          const before = records[index - 1]
          expect([record.number, record.previous_record_id]).toEqual([index + 1, before?.id ?? null])
          // The test moved the end of requests, whose hash covers the time that was written.
          if (record.status !== 'pending')
            expect(record.record_hash).toBe(await hashRecord(record, before?.record_hash ?? null))
        }
        expect((await listEvents(scene.organization)).map(({ kind }) => kind)).toEqual(model.events)
        const mails = await listMails(scene)
        expect(mails.map(({ status }) => status)).toEqual(mails.map(() => 'sent'))
        expect(mails).toHaveLength(model.requests)
        expect(provider.accepted.get(scene.person.email ?? '') ?? 0).toBe(model.requests)
      }),
      { numRuns: 16, examples },
    )
  })
})
