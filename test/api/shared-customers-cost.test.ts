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

beforeAll(async () => {
  const crowd = await seedCrowd(40)
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

describe('listUsers', () => {
  it('costs an edition role only a few look-ups more for a single customer', async () => {
    const [first] = (await get('/v1/user', tokens.edition)).body.results
    const whole = costOf(await get(`/v1/user/${first.id}`, tokens.organization))
    const part = costOf(await get(`/v1/user/${first.id}`, tokens.edition))
    expect(part.queries).toBe(whole.queries)
    expect(part.rows_read - whole.rows_read).toBeLessThanOrEqual(30)
  })
})
