import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { findCalculation, calculateStep } from '../../src/modules/segments/calculation/calculation.ts'
import { post } from '../support/api.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { calculator, membersNow, messageFor, segmentNow } from '../support/segments.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { db } from '../support/seeding/rows.ts'

const size = 2

let organization: string
let id: string
let ids: string[]
beforeEach(async () => {
  organization = (await givenOrganization()).id
  ids = (await seedPeople({ organization }, [{}, {}, {}, {}, {}])).map((person) => person.id).toSorted()
  id = (await givenSegment({ organization_id: organization })).id as string
})

/** The message of a calculation that has just begun, of five people: three steps of two. */
async function begin() {
  expect((await post(`/v1/segments/${id}/recalculate`, undefined)).status).toBe(200)
  return messageFor(await segmentNow(id))
}

describe('the walk of a calculation through an organisation', () => {
  it('visits each person once, whatever the order of their ids, and also those who joined at one moment', async () => {
    for (const [index, time] of [7, -3, 7, 7, 0].entries())
      await db.batch([sql`update users set created_at = ${time} where id = ${ids[index]}`])
    await calculator().take([await begin()], size)
    expect(await segmentNow(id)).toMatchObject({ status: 'ready', user_count: 5, walked_count: 6 })
    expect((await membersNow(id)).toSorted()).toEqual(ids)
  })

  it('counts the people at the start of each calculation', async () => {
    await calculator().take([await begin()], size)
    await seedPeople({ organization }, [{}, {}])
    const message = await begin()
    expect(await segmentNow(id)).toMatchObject({ walked_count: 0, population_count: 7 })
    await calculator().take([message], size)
    expect(await segmentNow(id)).toMatchObject({ status: 'ready', user_count: 7, walked_count: 8, population_count: 7 })
  })

  it('visits people with and without a phone number or a visit', async () => {
    for (const [index, change] of [
      sql`phone_number = null`,
      sql`last_seen_at = 1`,
      sql`phone_number = null, last_seen_at = 1`,
    ].entries())
      await db.batch([sql`update users set ${change}, created_at = ${-index} where id = ${ids[index]}`])
    await calculator().take([await begin()], size)
    expect(await segmentNow(id)).toMatchObject({ status: 'ready', user_count: 5, walked_count: 6 })
    expect((await membersNow(id)).toSorted()).toEqual(ids)
  })
})

/** Takes all steps of the calculation that has begun: how many people each has added, and the position at which it ended. */
async function takeSteps(segment: string, peoplePerStep: number) {
  const machine = calculator()
  const { epoch } = await segmentNow(segment)
  const taken: { people: number; end: string }[] = []
  let calculation = await findCalculation(machine.job, segment, epoch)
  while (calculation) {
    const { matched_count } = await segmentNow(segment)
    const step = await calculateStep(machine.job, calculation, peoplePerStep)
    expect(['calculating', 'ready']).toContain(step.state)
    const now = await segmentNow(segment)
    taken.push({ people: now.matched_count - matched_count, end: now.cursor_id })
    calculation = step.state === 'calculating' ? step.calculation : null
  }
  return taken
}

describe('the steps of a calculation through an organisation', () => {
  it('test at most the given number of people, and each person once', async () => {
    const person = fc.record({
      created_at: fc.oneof(fc.constantFrom(-5, 0, 7), fc.integer({ min: -50, max: 50 }), fc.integer({ max: 1e12 })),
      phone_number: fc.boolean(),
      last_seen_at: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(person, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        async (joined, peoplePerStep) => {
          const place = (await givenOrganization()).id
          const seeded = await seedPeople(
            { organization: place },
            joined.map(({ created_at, phone_number, last_seen_at }, index) => ({
              created_at,
              phone_number: phone_number ? `+4540${index + 100_000}` : null,
              last_seen_at: last_seen_at ? index : null,
            })),
          )
          const { id: segment } = (await givenSegment({ organization_id: place })) as { id: string }
          expect((await post(`/v1/segments/${segment}/recalculate`, undefined)).status).toBe(200)
          for (const { people } of await takeSteps(segment, peoplePerStep))
            expect(people).toBeLessThanOrEqual(peoplePerStep)
          expect(await segmentNow(segment)).toMatchObject({ status: 'ready', matched_count: seeded.length })
          expect((await membersNow(segment)).length).toBe(
            seeded.filter(({ email, is_active }) => email !== null && is_active).length,
          )
        },
      ),
      { numRuns: dearRuns(60, 12) },
    )
  })
})

const steps = 6
const peoplePerStep = 10

describe('a condition on a column of people that has an index', () => {
  async function rowsReadFor(place: { organization_id: string; edition_id?: string }, expression: string) {
    const { id: segment } = await givenSegment({ ...place, expression })
    expect((await post(`/v1/segments/${segment as string}/recalculate`, undefined)).status).toBe(200)
    const machine = calculator()
    await machine.take([messageFor(await segmentNow(segment as string))], peoplePerStep)
    expect(await segmentNow(segment as string)).toMatchObject({ status: 'ready', user_count: steps * peoplePerStep })
    return machine.meter.rows_read
  }

  it.each(['organisation', 'edition'])('never makes a step read all people of an %s', async (of) => {
    const organisation = await givenOrganization()
    const { id: edition } = await seedEdition(organisation)
    const seen = Array.from({ length: steps * peoplePerStep }, (_, at) => ({
      last_seen_at: at + 1,
      created_at: at + 1,
    }))
    await seedPeople({ organization: organisation.id, edition }, seen)
    const place = { organization_id: organisation.id, ...(of === 'edition' ? { edition_id: edition } : {}) }
    const withoutIndex = await rowsReadFor(place, 'user.locale < "z"')
    for (const expression of [
      ...(of === 'edition' ? [] : ['user.last_seen < now']),
      'user.date_joined < now',
      'user.email < "z"',
      'user.id < "z"',
      'user.phone_number < "z"',
      'user.has_email',
      'user.has_phone',
    ])
      expect(await rowsReadFor(place, expression), expression).toBeLessThanOrEqual(withoutIndex)
  })
})
