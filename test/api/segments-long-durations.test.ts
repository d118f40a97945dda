import { beforeAll, describe, expect, it } from 'vitest'
import { post } from '../support/api.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'

let organisation: Organization
let viewer: string
let manager: string

beforeAll(async () => {
  organisation = await givenOrganization()
  viewer = (await givenMember(organisation, 'viewer')).token
  manager = (await givenMember(organisation, 'manager')).token
})

describe.each([101, 128, 3900])('a duration of %d digits and units', { timeout: 60_000 }, (length) => {
  const expression = `user.last_seen < now - duration("${'00s0'.repeat(1000).slice(0, length - 4)}0000")`

  it('is refused at once by validateCel, also for a viewer', async () => {
    const { status, body } = await post(
      '/v1/segments/validate-cel',
      { organization_id: organisation.id, expression },
      viewer,
    )
    expect([status, body]).toMatchObject([200, { is_valid: false, errors: [{ code: 'invalid_duration' }] }])
  })

  it('is refused at once by createSegment', async () => {
    const kind = { communication_type: 'marketing', communication_channel: 'email' }
    const segment = { organization_id: organisation.id, name: 'Late', expression, ...kind }
    const { status, body } = await post('/v1/segments', segment, manager)
    expect([status, body.errors]).toMatchObject([400, [{ attr: 'expression', code: 'invalid_duration' }]])
  })
})
