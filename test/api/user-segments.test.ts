import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { write } from '../support/seeding/rows.ts'
import { calculate } from '../support/segments.ts'

async function seedWorld() {
  const organisation = await givenOrganization()
  const edition = await seedEdition(organisation)
  const other = await seedEdition(organisation)
  const [user] = await seedPeople({ organization: organisation.id, edition: edition.id }, [{ locale: 'da' }])
  const give = (name: string, fields: Record<string, unknown> = {}) =>
    givenSegment({ organization_id: organisation.id, name, ...fields })
  const all = await give('Everyone')
  await give('Swedes', { expression: 'user.locale == "se"' })
  await give('Newsletter', { communication_type: 'marketing' })
  await give('Edition', { edition_id: edition.id })
  await give('Other edition', { edition_id: other.id, communication_channel: 'sms' })
  return { organisation, edition, other, user: user?.id ?? '', all: all.id as string }
}

const readReasons = async (user: string, query = '', token?: string): Promise<Record<string, string | null>> => {
  const { body } = await get(`/v1/user/${user}/segments?${query}`, token)
  expect(body.count).toBe(body.results.length)
  return Object.fromEntries(
    body.results.map((segment: { name: string; is_member: boolean; excluded_for: string | null }) => {
      expect(segment.is_member).toBe(segment.excluded_for === null)
      return [segment.name, segment.excluded_for]
    }),
  )
}

describe('listUserSegments', () => {
  it('says in which segments a person is, and why not in the others, as explainSegment does', async () => {
    const { user, edition } = await seedWorld()
    expect(await readReasons(user)).toEqual({
      'Other edition': 'other_edition',
      Edition: null,
      Newsletter: 'no_consent',
      Swedes: 'expression',
      Everyone: null,
    })
    const { body } = await get(`/v1/user/${user}/segments`)
    for (const { id, is_member, excluded_for, was_member } of body.results)
      expect((await get(`/v1/segments/${id}/explain?user_id=${user}`)).body).toMatchObject({
        is_member,
        excluded_for,
        was_member,
      })
    expect(await readReasons(user, `edition_id=${edition.id}`)).toEqual({ Edition: null })
    expect(Object.keys(await readReasons(user, 'communication_channel=sms'))).toEqual(['Other edition'])
  })

  it('tells the last calculation and current data apart', async () => {
    const { user, all } = await seedWorld()
    await calculate(all)
    await write(sql`update users set is_active = 0 where id = ${user}`)
    const { body } = await get(`/v1/user/${user}/segments?ordering=created`)
    expect(body.results[0]).toMatchObject({ id: all, is_member: false, excluded_for: 'inactive', was_member: true })
    expect(body.results[1]).toMatchObject({ was_member: null })
  })

  it('shows an edition role the segments of its edition alone', async () => {
    const { organisation, user, edition, other } = await seedWorld()
    const manager = await givenMember(organisation, 'manager', edition.id)
    expect(await readReasons(user, '', manager.token)).toEqual({ Edition: null })
    expect(await readReasons(user, `edition_id=${other.id}`, manager.token)).toEqual({})
    const viewer = await givenMember(organisation, 'viewer', edition.id)
    expect((await get(`/v1/user/${user}/segments`, viewer.token)).status).toBe(403)
    for (const { token } of [
      await givenMember(organisation, 'admin', other.id),
      await givenMember(await givenOrganization(), 'admin'),
    ])
      expect((await get(`/v1/user/${user}/segments`, token)).status).toBe(404)
  })
})
