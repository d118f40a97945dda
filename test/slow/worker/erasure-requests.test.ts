import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { call, get, patch, post } from '../../support/api.ts'
import { countEntries } from '../../support/audit.ts'
import { dump } from '../../support/dump.ts'
import { findCellsWith, finishErasures, givenKnown, type KnownPerson } from '../../support/personal-data.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedPeople, seedSuppression } from '../../support/seeding/customers.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { importOrders } from '../../support/seeding/sales/orders.ts'

const listSuppressions = async ({ organization_id }: KnownPerson): Promise<unknown[]> =>
  (
    await env.DB.prepare('select channel, address, reason from suppressions where organization_id = ? order by channel')
      .bind(organization_id)
      .all()
  ).results

const hashesOf = async ({ organization_id }: KnownPerson): Promise<unknown[]> =>
  (
    await env.DB.prepare('select channel, reason from suppression_hashes where organization_id = ? order by channel')
      .bind(organization_id)
      .all()
  ).results

const listCustomers = async ({ organization_id }: KnownPerson): Promise<{ id: string; email: string | null }[]> =>
  (await get(`/v1/user?organization_id=${organization_id}&ordering=date_joined`)).body.results

const aSegment = { name: 'Some people', communication_type: 'transactional', communication_channel: 'email' }

const erase = (person: Pick<KnownPerson, 'id'>) => post(`/v1/user/${person.id}/erase`, {})

const buildOrder = (email: string, phone_number: string) => ({
  external_id: `again-${crypto.randomUUID()}`,
  currency: 'dkk',
  customer: { email, phone_number, first_name: 'Back', last_name: 'Again' },
  items: [{ product: 'Day ticket', quantity: 1, unit_price: 10 }],
})

/** Imports orders of a person, of which four have ids with the address or number, and erases the person. */
async function givenErasedIds() {
  const person = await givenKnown()
  const { email, phone } = person
  const ids = [
    `2026-${email}`,
    `${email.toUpperCase()}/2`,
    `${phone.slice(1)}-3`,
    `${phone.slice(3, 7)} ${phone.slice(7)}`,
    'A-1001',
  ]
  const orders = ids.map((external_id) => ({ ...buildOrder(email, phone), external_id }))
  const source = `shop-${crypto.randomUUID()}`
  expect((await importOrders(person, orders, { source })).body.created_orders).toBe(5)
  await erase(person)
  const { results } = await env.DB.prepare('select id, external_id from orders where external_source = ? order by seq')
    .bind(source)
    .all<{ id: string; external_id: string }>()
  const hashes = results.map(({ external_id }) => external_id)
  expect(hashes).toEqual([...Array.from({ length: 4 }, () => expect.stringMatching(/^erased_[0-9a-f]{32}$/)), 'A-1001'])
  return { person, again: orders.slice(0, 4), source, hashes, orderIds: results.map(({ id }) => id) }
}

describe('eraseUser', () => {
  it('changes nothing when it is repeated', async () => {
    const person = await givenKnown()
    expect((await erase(person)).status).toBe(200)
    const [before, entries] = [await dump(), await countEntries()]
    const secondReply = await erase(person)
    expect([secondReply.status, secondReply.body.user_id]).toEqual([200, person.id])
    expect(await dump()).toEqual(before)
    expect(await countEntries()).toBe(entries)
  })

  it('makes the customer read-only', async () => {
    const person = await givenKnown()
    await erase(person)
    const before = await dump()
    const reply = await patch(`/v1/user/${person.id}`, { first_name: 'Somebody' })
    expect(describeRefusal(reply)).toBe('409 user_erased')
    expect(await dump()).toEqual(before)
  })

  it('keeps audit entries of earlier changes, without the values', async () => {
    const person = await givenKnown()
    await erase(person)
    const log = await get(`/v1/audit-log?organization_id=${person.organization_id}&resource_id=${person.id}`)
    const findEntry = (action: string) => log.body.results.find((entry: { action: string }) => entry.action === action)
    const [erasure, update] = [findEntry('eraseUser'), findEntry('updateUser')]
    expect(update.changes).toContainEqual({ field: 'email', before: null, after: null, is_hidden: true })
    for (const change of erasure.changes) expect(JSON.stringify(change)).not.toContain(person.email)
  })

  it('removes the addresses from expressions of segments and their audit entries, in any spelling', async () => {
    const person = await givenKnown()
    const { organization_id, email, phone } = person
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
    await erase(person)
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
    const person = await givenKnown()
    const { organization_id, email } = person
    const name = `For ${email.toUpperCase()} alone`
    const { body: segment } = await post('/v1/segments', { ...aSegment, organization_id, name, expression: 'true' })
    await erase(person)
    await finishErasures()
    const log = await get(`/v1/audit-log?organization_id=${organization_id}&resource_id=${segment.id}`)
    expect(log.body.results).toHaveLength(1)
    expect(log.body.results[0].changes).toContainEqual({ field: 'name', before: null, after: null, is_hidden: true })
    expect(log.body.results[0].changes).toContainEqual(expect.objectContaining({ field: 'expression', after: 'true' }))
  })

  it.each(['skip', 'update'])(
    'skips an order whose id contained the address when its file comes again (%s)',
    async (on_duplicate) => {
      const { person, again, source, orderIds } = await givenErasedIds()
      for (const dry_run of [true, false]) {
        const reply = await importOrders(person, again, { source, on_duplicate, dry_run })
        expect(reply.body).toMatchObject({ created_orders: 0, updated_orders: 0, skipped_orders: 4 })
        expect(reply.body.results).toMatchObject(
          again.map(({ external_id }, index) => ({ external_id, order_id: orderIds[index], warnings: [] })),
        )
      }
      expect(await listCustomers(person)).not.toContainEqual(expect.objectContaining({ email: person.email }))
    },
  )

  it('refuses such an order when its file comes again and duplicates are errors', async () => {
    const { person, again, source } = await givenErasedIds()
    await finishErasures()
    const reply = await importOrders(person, again, { source, on_duplicate: 'error' })
    expect(JSON.stringify(reply.body)).toContain('duplicate_in_edition')
  })

  it('finds such an order by its new id, and not by the address', async () => {
    const { person, hashes, orderIds } = await givenErasedIds()
    await finishErasures()
    const { email, phone } = person
    const orders = async (filter: string) => (await get(`/v1/orders?edition_id=${person.edition_id}&${filter}`)).body
    expect((await orders(`external_id=${hashes[0]}`)).results).toMatchObject([{ id: orderIds[0] }])
    for (const filter of [`search=${email}`, `external_id=2026-${email}`, `search=${phone.slice(3)}`])
      expect([filter, (await orders(filter)).count]).toEqual([filter, 0])
  })

  it('recognises the order by a hash of its own edition and organisation', async () => {
    const person = await givenKnown()
    const other = await seedEdition({ id: person.organization_id })
    const order = { ...buildOrder(person.email, person.phone), external_id: person.email }
    const source = `shop-${crypto.randomUUID()}`
    await importOrders(person, [order], { source })
    await importOrders({ ...person, edition_id: other.id }, [order], { source })
    await erase(person)
    const rows = await env.DB.prepare('select external_id from orders where external_source = ?').bind(source).all()
    expect(new Set(rows.results.map(({ external_id }) => external_id)).size).toBe(2)
    const organization = await get(`/v1/organizations/${person.organization_id}`)
    const key = await env.DB.prepare('select erasure_key as key from organizations where id = ?')
      .bind(person.organization_id)
      .first<{ key: string }>()
    expect(key?.key).toMatch(/^[0-9a-f]{64}$/)
    expect(organization.text).not.toContain(key?.key)
  })

  it('keeps the free text of a suppression out of the audit log', async () => {
    const person = await givenKnown()
    const detail = `Anna of ${crypto.randomUUID()} rang`
    const { organization_id } = person
    const added = await post('/v1/suppressions', {
      organization_id,
      channel: 'email',
      address: `x${person.email}`,
      detail,
    })
    expect(added.status, added.text).toBe(201)
    await post(`/v1/suppressions/${added.body.id}/lift`, { lift_reason: 'Asked for it' })
    const log = await get(`/v1/audit-log?organization_id=${organization_id}&resource_id=${added.body.id}`)
    expect(log.body.results.length).toBeGreaterThan(0)
    expect(log.text).not.toContain(detail)
  })

  it('removes the customer from every search', async () => {
    const person = await givenKnown()
    const { organization_id, edition_id, email } = person
    const countMatches = async () => [
      (await get(`/v1/user?organization_id=${organization_id}&search=${email}`)).body.count,
      (await get(`/v1/orders?edition_id=${edition_id}&search=${email}`)).body.count,
      (await get(`/v1/orders?edition_id=${edition_id}&customer_email=${email}`)).body.count,
    ]
    expect(await countMatches()).toEqual([1, 1, 1])
    await erase(person)
    expect(await countMatches()).toEqual([0, 0, 0])
  })

  it('removes the number, so that lists sorted by number end with the customer in both directions', async () => {
    const person = await givenKnown()
    const { organization_id, edition_id } = person
    await importOrders(person, [buildOrder(`one-${crypto.randomUUID()}@example.dk`, '+4531234567')])
    await erase(person)
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

  it('keeps suppressed addresses as hashes, and suppresses them again when the person comes back', async () => {
    const person = await givenKnown()
    await erase(person)
    await finishErasures()
    expect(await listSuppressions(person)).toEqual([])
    expect(await hashesOf(person)).toEqual([
      { channel: 'email', reason: 'complaint' },
      { channel: 'sms', reason: 'unsubscribed' },
    ])
    const reply = await importOrders(person, [buildOrder(person.email, person.phone)])
    expect(reply.body.status).toBe('completed')
    const [old, back] = await listCustomers(person)
    expect(old).toMatchObject({ id: person.id, email: null, is_active: false })
    expect(back).toMatchObject({ email: person.email, is_active: true, first_name: 'Back' })
    expect(await listSuppressions(person)).toEqual([
      { channel: 'email', address: person.email, reason: 'complaint' },
      { channel: 'sms', address: person.phone, reason: 'unsubscribed' },
    ])
    expect(await hashesOf(person)).toEqual([])
  })

  it('does not change a new customer with the same address while the erasure runs', async () => {
    const person = await givenKnown()
    await erase(person)
    await importOrders(person, [buildOrder(person.email, person.phone)])
    const before = await listSuppressions(person)
    expect(before.length).toBe(2)
    await finishErasures()
    expect(await listSuppressions(person)).toEqual(before)
    expect((await listCustomers(person))[1]).toMatchObject({ email: person.email, phone_number: person.phone })
  })

  it('suppresses the address again when another customer gets it by an update', async () => {
    const person = await givenKnown()
    const [other] = await seedPeople({ organization: person.organization_id }, [{}])
    await erase(person)
    expect((await patch(`/v1/user/${other?.id}`, { email: person.email })).status).toBe(200)
    expect(await listSuppressions(person)).toEqual([{ channel: 'email', address: person.email, reason: 'complaint' }])
  })

  it('keeps the suppression of a number that another customer has too', async () => {
    const person = await givenKnown()
    await seedPeople({ organization: person.organization_id }, [{ phone_number: person.phone }])
    await erase(person)
    expect(await listSuppressions(person)).toEqual([{ channel: 'sms', address: person.phone, reason: 'unsubscribed' }])
  })

  it('does not change the same address in another organisation', async () => {
    const [person, other] = [await givenKnown(), await givenKnown()]
    const [same] = await seedPeople({ organization: other.organization_id }, [{ email: person.email }])
    if (same) await seedSuppression(same, 'email', 'unsubscribed')
    await erase(person)
    await finishErasures()
    expect((await get(`/v1/user/${same?.id}`)).body.email).toBe(person.email)
    expect(await listSuppressions(other)).toContainEqual({
      channel: 'email',
      address: person.email,
      reason: 'unsubscribed',
    })
  })

  it('wins over simultaneous changes of the customer', async () => {
    const person = await givenKnown()
    const [mark = ''] = person.marks
    const replies = await Promise.all([
      patch(`/v1/user/${person.id}`, { first_name: `Early${mark}` }),
      erase(person),
      patch(`/v1/user/${person.id}`, { email: `late-${mark}@example.dk` }),
      importOrders(person, [buildOrder(person.email, person.phone)]),
    ])
    expect(replies[1].status, replies[1].text).toBe(200)
    await finishErasures()
    const traces = await findCellsWith({ ...person, marks: [`Early${mark}`, `late-${mark}`, `First${mark}`] })
    expect(traces).toEqual({})
  })
})
