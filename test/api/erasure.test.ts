import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { call, get, patch, post } from '../support/api.ts'
import { countEntries } from '../support/audit.ts'
import { dump } from '../support/dump.ts'
import { importOrders } from '../support/seeding/sales/orders.ts'
import { cellsWith, finishErasures, givenKnown, type Known } from '../support/personal-data.ts'
import { seedPeople, seedSuppression } from '../support/seeding/customers.ts'

const suppressionsOf = async ({ organization_id }: Known): Promise<unknown[]> =>
  (
    await env.DB.prepare('select channel, address, reason from suppressions where organization_id = ? order by channel')
      .bind(organization_id)
      .all()
  ).results

const hashesOf = async ({ organization_id }: Known): Promise<unknown[]> =>
  (
    await env.DB.prepare('select channel, reason from suppression_hashes where organization_id = ? order by channel')
      .bind(organization_id)
      .all()
  ).results

const usersOf = async ({ organization_id }: Known): Promise<{ id: string; email: string | null }[]> =>
  (await get(`/v1/user?organization_id=${organization_id}&ordering=date_joined`)).body.results

const aSegment = { name: 'Some people', communication_type: 'transactional', communication_channel: 'email' }

const erase = (known: Pick<Known, 'id'>) => post(`/v1/user/${known.id}/erase`, {})

const anOrderOf = (email: string, phone_number: string) => ({
  external_id: `again-${crypto.randomUUID()}`,
  currency: 'dkk',
  customer: { email, phone_number, first_name: 'Back', last_name: 'Again' },
  items: [{ product: 'Day ticket', quantity: 1, unit_price: 10 }],
})

describe('eraseUser', () => {
  it('changes nothing when it is repeated', async () => {
    const known = await givenKnown()
    expect((await erase(known)).status).toBe(200)
    const [before, entries] = [await dump(), await countEntries()]
    const again = await erase(known)
    expect([again.status, again.body.user_id]).toEqual([200, known.id])
    expect(await dump()).toEqual(before)
    expect(await countEntries()).toBe(entries)
  })

  it('makes the customer read-only', async () => {
    const known = await givenKnown()
    await erase(known)
    const before = await dump()
    const reply = await patch(`/v1/user/${known.id}`, { first_name: 'Somebody' })
    expect([reply.status, reply.body.code]).toEqual([409, 'user_erased'])
    expect(await dump()).toEqual(before)
  })

  it('keeps audit entries of earlier changes, without the values', async () => {
    const known = await givenKnown()
    await erase(known)
    const log = await get(`/v1/audit-log?organization_id=${known.organization_id}&resource_id=${known.id}`)
    const entryOf = (action: string) => log.body.results.find((entry: { action: string }) => entry.action === action)
    const [erasure, update] = [entryOf('eraseUser'), entryOf('updateUser')]
    expect(update.changes).toContainEqual({ field: 'email', before: null, after: null, is_hidden: true })
    for (const change of erasure.changes) expect(JSON.stringify(change)).not.toContain(known.email)
  })

  it('removes the addresses from expressions of segments and their audit entries, in any spelling', async () => {
    const known = await givenKnown()
    const { organization_id, email, phone } = known
    const other = `x${email}`
    const wide = [...email.toUpperCase()].map((letter) => (letter === '@' ? '＠' : letter)).join('')
    const source = [
      `user.email in ["${wide}", "${other}"] // asked for by ${email}`,
      String.raw`user.email == '\u0070${email.slice(1)}' || user.email.startsWith("${email}")`,
      `user.phone_number == "${phone.slice(0, 5)} ${phone.slice(5)}" && user.email != "${email}"`,
    ].join(' \n|| ')
    const { body: segment } = await post('/v1/segments', { ...aSegment, organization_id, expression: source })
    const { body: lost } = await post('/v1/segments', {
      ...aSegment,
      organization_id,
      expression: `user.email == "${email}"`,
    })
    await patch(`/v1/segments/${segment.id}`, { expression: `${source} || false` })
    await call(`/v1/segments/${lost.id}`, { method: 'DELETE' })
    await erase(known)
    await finishErasures()
    const after = (await get(`/v1/segments/${segment.id}`)).body
    expect(after.expression).toBe(
      [
        `user.email in ["(gone)", "${other}"] // asked for by (gone)`,
        'user.email == "(gone)" || user.email.startsWith("(gone)")',
        'user.phone_number == "(gone)" && user.email != "(gone)" || false',
      ].join(' \n|| '),
    )
    const validation = await post('/v1/segments/validate-cel', { organization_id, expression: after.expression })
    expect([validation.body.is_valid, validation.body.estimated_user_count]).toEqual([true, 0])
    const log = await get(`/v1/audit-log?organization_id=${organization_id}&page_size=500`)
    for (const text of [email, wide, phone]) expect(log.text).not.toContain(text)
    expect(
      log.body.results.filter(({ resource_id }: { resource_id: string }) => resource_id === segment.id),
    ).toMatchObject([
      { action: 'eraseUser', changes: [{ field: 'expression', is_hidden: true }] },
      { action: 'updateSegment', changes: [{ field: 'expression', is_hidden: true }] },
      { action: 'createSegment' },
    ])
    const rows = await env.DB.prepare('select expression from segments where id = ?').bind(lost.id).all()
    expect(rows.results).toEqual([{ expression: 'user.email == "(gone)"' }])
  })

  it('hides the addresses in audit entries of other resources', async () => {
    const known = await givenKnown()
    const { organization_id, email } = known
    const name = `For ${email.toUpperCase()} alone`
    const { body: segment } = await post('/v1/segments', { ...aSegment, organization_id, name, expression: 'true' })
    await erase(known)
    await finishErasures()
    const log = await get(`/v1/audit-log?organization_id=${organization_id}&resource_id=${segment.id}`)
    expect(log.body.results).toHaveLength(1)
    expect(log.body.results[0].changes).toContainEqual({ field: 'name', before: null, after: null, is_hidden: true })
    expect(log.body.results[0].changes).toContainEqual(expect.objectContaining({ field: 'expression', after: 'true' }))
  })

  it('removes the customer from every search', async () => {
    const known = await givenKnown()
    const { organization_id, edition_id, email } = known
    const found = async () => [
      (await get(`/v1/user?organization_id=${organization_id}&search=${email}`)).body.count,
      (await get(`/v1/orders?edition_id=${edition_id}&search=${email}`)).body.count,
      (await get(`/v1/orders?edition_id=${edition_id}&customer_email=${email}`)).body.count,
    ]
    expect(await found()).toEqual([1, 1, 1])
    await erase(known)
    expect(await found()).toEqual([0, 0, 0])
  })

  it('removes the number, so that lists sorted by number end with the customer in both directions', async () => {
    const known = await givenKnown()
    const { organization_id, edition_id } = known
    await importOrders(known, [anOrderOf(`one-${crypto.randomUUID()}@example.dk`, '+4531234567')])
    await erase(known)
    const lists = [`organization_id=${organization_id}`, `edition_id=${edition_id}`]
    for (const list of lists)
      for (const ordering of ['phone_number', '-phone_number']) {
        const reply = await get(`/v1/user?${list}&ordering=${ordering}`)
        const numbers = reply.body.results.map((user: { phone_number: string | null }) => user.phone_number)
        expect([list, ordering, numbers]).toEqual([list, ordering, ['+4531234567', null]])
      }
    for (const expression of ['user.has_phone', 'user.phone_number != null']) {
      const estimate = await post('/v1/segments/validate-cel', { organization_id, expression })
      expect([expression, estimate.body.estimated_user_count]).toEqual([expression, 1])
    }
  })

  it('keeps suppressed addresses as hashes, and suppresses them again when the person comes back as a new customer', async () => {
    const known = await givenKnown()
    await erase(known)
    await finishErasures()
    expect(await suppressionsOf(known)).toEqual([])
    expect(await hashesOf(known)).toEqual([
      { channel: 'email', reason: 'complaint' },
      { channel: 'sms', reason: 'unsubscribed' },
    ])
    const reply = await importOrders(known, [anOrderOf(known.email, known.phone)])
    expect(reply.body.status).toBe('completed')
    const [old, back] = await usersOf(known)
    expect(old).toMatchObject({ id: known.id, email: null, is_active: false })
    expect(back).toMatchObject({ email: known.email, is_active: true, first_name: 'Back' })
    expect(await suppressionsOf(known)).toEqual([
      { channel: 'email', address: known.email, reason: 'complaint' },
      { channel: 'sms', address: known.phone, reason: 'unsubscribed' },
    ])
    expect(await hashesOf(known)).toEqual([])
  })

  it('leaves a new customer with the same address unchanged while the erasure goes on', async () => {
    const known = await givenKnown()
    await erase(known)
    await importOrders(known, [anOrderOf(known.email, known.phone)])
    const before = await suppressionsOf(known)
    expect(before.length).toBe(2)
    await finishErasures()
    expect(await suppressionsOf(known)).toEqual(before)
    expect((await usersOf(known))[1]).toMatchObject({ email: known.email, phone_number: known.phone })
  })

  it('suppresses the address again when another customer gets it by hand', async () => {
    const known = await givenKnown()
    const [other] = await seedPeople({ organization: known.organization_id }, [{}])
    await erase(known)
    expect((await patch(`/v1/user/${other?.id}`, { email: known.email })).status).toBe(200)
    expect(await suppressionsOf(known)).toEqual([{ channel: 'email', address: known.email, reason: 'complaint' }])
  })

  it('keeps the suppression of a number that another customer has too', async () => {
    const known = await givenKnown()
    await seedPeople({ organization: known.organization_id }, [{ phone_number: known.phone }])
    await erase(known)
    expect(await suppressionsOf(known)).toEqual([{ channel: 'sms', address: known.phone, reason: 'unsubscribed' }])
  })

  it('leaves the same address in another organisation unchanged', async () => {
    const [known, other] = [await givenKnown(), await givenKnown()]
    const [same] = await seedPeople({ organization: other.organization_id }, [{ email: known.email }])
    if (same) await seedSuppression(same, 'email', 'unsubscribed')
    await erase(known)
    await finishErasures()
    expect((await get(`/v1/user/${same?.id}`)).body.email).toBe(known.email)
    expect(await suppressionsOf(other)).toContainEqual({
      channel: 'email',
      address: known.email,
      reason: 'unsubscribed',
    })
  })

  it('prevails over simultaneous changes of the customer', async () => {
    const known = await givenKnown()
    const [mark = ''] = known.marks
    const replies = await Promise.all([
      patch(`/v1/user/${known.id}`, { first_name: `Early${mark}` }),
      erase(known),
      patch(`/v1/user/${known.id}`, { email: `late-${mark}@example.dk` }),
      importOrders(known, [anOrderOf(known.email, known.phone)]),
    ])
    expect(replies[1].status, replies[1].text).toBe(200)
    await finishErasures()
    const left = await cellsWith({ ...known, marks: [`Early${mark}`, `late-${mark}`, `First${mark}`] })
    expect(left).toEqual({})
  })
})
