import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { findCalculation, calculateStep } from '../../src/modules/segments/calculation/calculation.ts'
import { post } from '../support/api.ts'
import { dearRuns } from '../support/property-runs.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { createCalculator, listMembers, buildMessage, loadSegment } from '../support/segments.ts'

const size = 2

let organization: string
let id: string
let ids: string[]
beforeEach(async () => {
  organization = (await givenOrganization()).id
  ids = (await seedPeople({ organization }, [{}, {}, {}, {}, {}])).map((person) => person.id).toSorted()
  id = (await givenSegment({ organization_id: organization })).id as string
})

/** Starts a calculation of five people in three steps of two, and returns its message. */
async function begin() {
  expect((await post(`/v1/segments/${id}/recalculate`, undefined)).status).toBe(200)
  return buildMessage(await loadSegment(id))
}

describe('a calculation through an organisation', () => {
  it('visits each person once, whatever the order of their ids, even those who joined at the same time', async () => {
    for (const [index, time] of [7, -3, 7, 7, 0].entries())
      await db.batch([sql`update users set created_at = ${time} where id = ${ids[index]}`])
    await createCalculator().take([await begin()], size)
    expect(await loadSegment(id)).toMatchObject({ status: 'ready', user_count: 5, walked_count: 6 })
    expect((await listMembers(id)).toSorted()).toEqual(ids)
  })

  it('counts the people at its start', async () => {
    await createCalculator().take([await begin()], size)
    await seedPeople({ organization }, [{}, {}])
    const message = await begin()
    expect(await loadSegment(id)).toMatchObject({ walked_count: 0, population_count: 7 })
    await createCalculator().take([message], size)
    expect(await loadSegment(id)).toMatchObject({
      status: 'ready',
      user_count: 7,
      walked_count: 8,
      population_count: 7,
    })
  })

  it('visits people with and without a phone number or a visit', async () => {
    for (const [index, change] of [
      sql`phone_number = null`,
      sql`last_seen_at = 1`,
      sql`phone_number = null, last_seen_at = 1`,
    ].entries())
      await db.batch([sql`update users set ${change}, created_at = ${-index} where id = ${ids[index]}`])
    await createCalculator().take([await begin()], size)
    expect(await loadSegment(id)).toMatchObject({ status: 'ready', user_count: 5, walked_count: 6 })
    expect((await listMembers(id)).toSorted()).toEqual(ids)
  })
})

/** Takes all steps of the started calculation, and returns how many people each added and where it ended. */
async function takeSteps(segment: string, peoplePerStep: number) {
  const machine = createCalculator()
  const { epoch } = await loadSegment(segment)
  const stepResults: { people: number; end: string }[] = []
  let calculation = await findCalculation(machine.job, segment, epoch)
  while (calculation) {
    const { matched_count } = await loadSegment(segment)
    const step = await calculateStep(machine.job, calculation, peoplePerStep)
    expect(['calculating', 'ready']).toContain(step.state)
    const now = await loadSegment(segment)
    stepResults.push({ people: now.matched_count - matched_count, end: now.cursor_id })
    calculation = step.state === 'calculating' ? step.calculation : null
  }
  return stepResults
}

describe('a step of a calculation through an organisation', () => {
  it('tests at most the given number of people, and each person once', async () => {
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
          expect(await loadSegment(segment)).toMatchObject({ status: 'ready', matched_count: seeded.length })
          expect((await listMembers(segment)).length).toBe(
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

describe('a condition on an indexed column of people', () => {
  async function countRowsRead(place: { organization_id: string; edition_id?: string }, expression: string) {
    const { id: segment } = await givenSegment({ ...place, expression })
    expect((await post(`/v1/segments/${segment as string}/recalculate`, undefined)).status).toBe(200)
    const machine = createCalculator()
    await machine.take([buildMessage(await loadSegment(segment as string))], peoplePerStep)
    expect(await loadSegment(segment as string)).toMatchObject({ status: 'ready', user_count: steps * peoplePerStep })
    return machine.meter.rows_read
  }

  it.each(['organisation', 'edition'])('never makes a step read all people of an %s', async (of) => {
    const organisation = await givenOrganization()
    const { id: edition } = await seedEdition(organisation)
    const people = Array.from({ length: steps * peoplePerStep }, (_, at) => ({
      last_seen_at: at + 1,
      created_at: at + 1,
    }))
    await seedPeople({ organization: organisation.id, edition }, people)
    const place = { organization_id: organisation.id, ...(of === 'edition' ? { edition_id: edition } : {}) }
    const withoutIndex = await countRowsRead(place, 'user.locale < "z"')
    for (const expression of [
      ...(of === 'edition' ? [] : ['user.last_seen < now']),
      'user.date_joined < now',
      'user.email < "z"',
      'user.id < "z"',
      'user.phone_number < "z"',
      'user.has_email',
      'user.has_phone',
    ])
      expect(await countRowsRead(place, expression), expression).toBeLessThanOrEqual(withoutIndex)
  })
})
