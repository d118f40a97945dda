import { insertEditionCustomers } from '../../src/db/edition-customers.ts'
import { beforeAll, describe, expect, it } from 'vitest'

import { get } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedCrowd } from '../support/seeding/messaging/campaigns.ts'
import { seededAt, write } from '../support/seeding/rows.ts'
import { seedPeople } from '../support/seeding/customers.ts'

let edition: string
let organization: string
let tokens: { edition: string; organization: string }
const people = 40

beforeAll(async () => {
  const crowd = await seedCrowd(people)
  organization = crowd.organization
  edition = crowd.edition
  const other = await seedEdition({ id: organization })
  const shared = crowd.people.filter((_, index) => index % 2)
  await write(
    ...insertEditionCustomers(shared.map(({ id }) => ({ edition_id: other.id, user_id: id, created_at: seededAt }))),
  )
  await seedPeople(
    { organization, edition: other.id },
    Array.from({ length: 1000 }, (_, index) => ({ email: `elsewhere-${index}@example.test` })),
  )
  const member = { id: organization }
  tokens = {
    edition: (await givenMember(member, 'viewer', edition)).token,
    organization: (await givenMember(member, 'viewer')).token,
  }
  // The first use of a token writes when it was used.
  await get('/v1/user', tokens.edition)
  await get('/v1/user', tokens.organization)
})

/** Rows read for each customer of the edition, by what is asked for: half of them are known elsewhere too. */
const paths = (): [path: string, rows: number, queries?: number][] => [
  ['/v1/user', 20, 7],
  [`/v1/user?edition_id=${edition}`, 20, 7],
  ['/v1/user?ordering=email', 26, 7],
  ['/v1/user?search=person', 18, 4],
  // The first 501 customers of the organisation with this text say that there are many.
  [`/v1/user?edition_id=${edition}&search=example`, 18 + 13, 8],
]

describe('listUsers', () => {
  it('reads only the customers of the edition for an edition role, for any number of others', async () => {
    for (const [path, rows, most = 3] of paths()) {
      const reply = await get(path, tokens.edition)
      const { rows_read, queries } = costOf(reply)
      expect([path, reply.status, queries]).toEqual([path, 200, most])
      expect([path, Math.max(rows_read, people * rows)]).toEqual([path, people * rows])
    }
  })

  it('costs an edition role only a few look-ups more for a single customer', async () => {
    const [first] = (await get('/v1/user', tokens.edition)).body.results
    const whole = costOf(await get(`/v1/user/${first.id}`, tokens.organization))
    const part = costOf(await get(`/v1/user/${first.id}`, tokens.edition))
    expect(part.queries).toBe(whole.queries)
    expect(part.rows_read - whole.rows_read).toBeLessThanOrEqual(30)
  })
})
