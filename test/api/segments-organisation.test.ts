import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post } from '../support/api.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'
import { loadSegment } from '../support/segments.ts'

let organisation: Organization
let mine: { id: string }
let manager: string
beforeAll(async () => {
  organisation = await givenOrganization()
  mine = await seedEdition(organisation)
  manager = (await givenMember(organisation, 'manager', mine.id)).token
})

describe('a segment of the whole organisation', () => {
  it('cannot be read, changed, calculated, explained or exported by an edition role', async () => {
    const { id } = await givenSegment({ organization_id: organisation.id })
    const [person] = await seedPeople({ organization: organisation.id, edition: mine.id }, [{}])
    const before = await loadSegment(id)
    const at = `/v1/segments/${id}`
    const replies = [
      await get(at, manager),
      await patch(at, { name: 'Mine' }, manager),
      await patch(at, { edition_id: mine.id }, manager),
      await post(`${at}/recalculate`, undefined, manager),
      await post(`${at}/reset-to-draft`, undefined, manager),
      await get(`${at}/explain?user_id=${person?.id}`, manager),
      await get(`${at}/export`, manager),
    ]
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404))
    expect(await loadSegment(id)).toEqual(before)
  })

  it('cannot be created by an edition role', async () => {
    const { id } = await givenSegment({ organization_id: organisation.id, edition_id: mine.id }, manager)
    expect((await patch(`/v1/segments/${id}`, { edition_id: null }, manager)).status).toBe(403)
    const body = {
      organization_id: organisation.id,
      name: 'All',
      communication_type: 'marketing',
      communication_channel: 'email',
      expression: 'true',
    }
    expect((await post('/v1/segments', body, manager)).status).toBe(403)
    expect((await loadSegment(id)).edition_id).toBe(mine.id)
  })
})
