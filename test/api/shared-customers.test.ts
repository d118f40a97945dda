import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { call, callWith, create, get, patch } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { describeRefusal } from '../support/refusals.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders, type Shop } from '../support/seeding/sales/orders.ts'
import { attach, givenTwo, loadCustomer, stranger, type UserRow } from '../support/shared-customers.ts'

describe('an edition manager who imports a customer of another edition', () => {
  it('changes nothing about that person, and reads only what this edition imported', async () => {
    const two = await givenTwo()
    const before = await loadCustomer(two.mine, stranger.email)
    const reply = await attach(two, {
      email: 'HIDDEN@example.dk',
      phone_number: '20123456',
      first_name: 'Anna',
      metadata: { mine: 1 },
    })
    expect(reply.body).toMatchObject({ created_orders: 1 })
    expect(await loadCustomer(two.mine, stranger.email)).toEqual(before)
    const viewerReply = await get(`/v1/user/${two.user}`, two.viewer)
    expect(viewerReply.body).toMatchObject({
      id: two.user,
      email: 'hidden@example.dk',
      phone_number: '+4520123456',
      first_name: 'Anna',
      last_name: '',
      locale: 'en',
      msg_channel: 'email',
      last_seen: null,
      metadata: { mine: 1 },
    })
    expect(viewerReply.text).not.toMatch(/Hemmelig|32123456|secret/)
    const organizationReply = await get(`/v1/user/${two.user}`, two.organizationViewer)
    expect(organizationReply.body).toMatchObject({
      first_name: 'Hemmelig',
      phone_number: '+4532123456',
      metadata: { note: 'secret' },
    })
  })

  it('adds no missing name and no missing address', async () => {
    const two = await givenTwo()
    await importOrders(two.theirs, [
      anOrder({ customer: { email: 'bare@example.dk' } }),
      anOrder({ customer: { phone_number: '+4520999999', first_name: 'Bo' } }),
    ])
    const before = await loadCustomer(two.mine, 'bare@example.dk')
    await attach(two, { email: 'bare@example.dk', phone_number: '+4520123456', first_name: 'Anna', last_name: 'X' })
    expect(await loadCustomer(two.mine, 'bare@example.dk')).toEqual(before)
    // The edition learns no address when only the number matches a customer of other editions.
    await attach(two, { email: 'new@example.dk', phone_number: '+4520999999' })
    const rows = await db.all(sql<UserRow>`select * from users where organization_id = ${two.mine.organization_id}
      and phone_number = '+4520999999' order by seq`)
    expect(rows.map(({ email, first_name }) => [email, first_name])).toEqual([
      [null, 'Bo'],
      ['new@example.dk', ''],
    ])
  })

  it('may not change that person, nor give another customer the hidden address', async () => {
    const two = await givenTwo()
    await attach(two, { email: stranger.email, first_name: 'Anna' })
    const before = await loadCustomer(two.mine, stranger.email)
    for (const change of [{ first_name: 'Eve' }, { email: 'mine@example.dk' }, { phone_number: null }, {}]) {
      const reply = await patch(`/v1/user/${two.user}`, change, two.manager)
      expect(describeRefusal(reply)).toBe('403 shared_customer')
      expect(reply.body).toMatchObject({ required_roles: ['OA', 'OM'] })
    }
    expect(await loadCustomer(two.mine, stranger.email)).toEqual(before)
    await importOrders(two.theirs, [anOrder({ customer: { email: 'unseen@example.dk' } })])
    await attach(two, { email: 'own@example.dk' })
    const ownCustomer = await loadCustomer(two.mine, 'own@example.dk')
    const emailReply = await patch(`/v1/user/${ownCustomer.id}`, { email: 'unseen@example.dk' }, two.manager)
    expect(describeRefusal(emailReply)).toBe('403 shared_customer')
    expect(emailReply.body.errors).toEqual([])
    expect(emailReply.text).not.toContain('Another customer')
    await attach(two, { email: 'second@example.dk' })
    const same = await patch(`/v1/user/${ownCustomer.id}`, { email: 'second@example.dk' }, two.manager)
    expect([same.status, same.body.errors[0].code]).toEqual([400, 'unique'])
    expect(await loadCustomer(two.mine, 'own@example.dk')).toEqual(ownCustomer)
  })

  it('changes a customer whom only this edition knows, and keeps reading those values', async () => {
    const two = await givenTwo()
    await attach(two, { email: 'own@example.dk', first_name: 'Anna' })
    const ownCustomer = await loadCustomer(two.mine, 'own@example.dk')
    const reply = await patch(`/v1/user/${ownCustomer.id}`, { last_name: 'Ærø', phone_number: '20123456' }, two.manager)
    expect(reply.body).toMatchObject({ first_name: 'Anna', last_name: 'Ærø', phone_number: '+4520123456' })
    await importOrders(two.theirs, [anOrder({ customer: { email: 'own@example.dk' } })])
    const viewerReply = await get(`/v1/user/${ownCustomer.id}`, two.viewer)
    expect(viewerReply.body).toMatchObject({ first_name: 'Anna', last_name: 'Ærø', phone_number: '+4520123456' })
    const searchReply = await get('/v1/user?search=%C3%A6r%C3%B8', two.viewer)
    expect(searchReply.body.results.map(({ id }: { id: string }) => id)).toEqual([ownCustomer.id])
  })

  it('is refused when another edition imports the customer at the same time', async () => {
    const two = await givenTwo()
    await attach(two, { email: 'own@example.dk', first_name: 'Anna' })
    const ownCustomer = await loadCustomer(two.mine, 'own@example.dk')
    const join = () => importOrders(two.theirs, [anOrder({ customer: { email: 'own@example.dk' } })])
    const reply = await callWith(interruptDatabase(/^update "users"/, join), `/v1/user/${ownCustomer.id}`, {
      method: 'PATCH',
      body: { first_name: 'Eve' },
      token: two.manager,
    })
    expect(describeRefusal(reply)).toBe('403 shared_customer')
    expect(await loadCustomer(two.mine, 'own@example.dk')).toEqual(ownCustomer)
  })

  it('adds nothing to a customer whom another edition imports at the same time', async () => {
    const two = await givenTwo()
    await attach(two, { email: 'own@example.dk' })
    const ownCustomer = await loadCustomer(two.mine, 'own@example.dk')
    const join = () => importOrders(two.theirs, [anOrder({ customer: { email: 'own@example.dk' } })])
    const reply = await callWith(interruptDatabase(/^update "users"/, join), '/v1/data-imports/external-orders', {
      method: 'POST',
      body: {
        ...two.mine,
        source: 'webshop',
        orders: [anOrder({ customer: { email: 'own@example.dk', first_name: 'Eve' } })],
      },
      token: two.manager,
    })
    expect([reply.status, reply.body.created_orders]).toEqual([201, 1])
    expect(await loadCustomer(two.mine, 'own@example.dk')).toEqual(ownCustomer)
  })

  it('adds missing fields of customers whom only the caller’s editions know', async () => {
    const two = await givenTwo()
    await attach(two, { email: 'own@example.dk' })
    await attach(two, { email: 'own@example.dk', first_name: 'Anna', phone_number: '20123456' })
    expect(await loadCustomer(two.mine, 'own@example.dk')).toMatchObject({
      first_name: 'Anna',
      phone_number: '+4520123456',
    })
  })
})

describe('a viewer of the organisation who manages one edition', () => {
  const givenBoth = async () => {
    const two = await givenTwo()
    const organization = { id: two.mine.organization_id }
    const { email, token } = await givenMember(organization, 'viewer')
    await create(`/v1/organizations/${organization.id}/members`, {
      email,
      role: 'manager',
      edition_id: two.mine.edition_id,
    })
    const customer = { email: `both-${crypto.randomUUID()}@example.dk`, first_name: 'Bo' }
    await attach(two, customer)
    return { ...two, token, customer: await loadCustomer(two.mine, customer.email) }
  }
  const listUpdates = async ({ organization_id }: Shop, id: string) =>
    (await get(`/v1/audit-log?organization_id=${organization_id}&resource_id=${id}&action=updateUser`)).body.results

  it('gets the same values and ETag from a change as from a read, and the audit log has what was stored', async () => {
    const { mine, token, customer } = await givenBoth()
    const path = `/v1/user/${customer.id}`
    await write(sql`update users set first_name = 'Bodil', metadata = '{"note":"own"}' where id = ${customer.id}`)
    const read = await get(path, token)
    expect(read.body.first_name).toBe('Bodil')
    const changed = await call(path, {
      method: 'PATCH',
      body: { last_name: 'Holm' },
      token,
      headers: { 'if-match': read.headers.get('etag') ?? '' },
    })
    expect(changed.status, changed.text).toBe(200)
    const after = await get(path, token)
    expect(changed.body).toEqual(after.body)
    expect(changed.body).toEqual({ ...read.body, last_name: 'Holm' })
    expect(changed.headers.get('etag')).toBe(after.headers.get('etag'))
    expect(await listUpdates(mine, customer.id)).toMatchObject([
      { changes: [{ field: 'last_name', before: '', after: 'Holm' }] },
    ])
  })

  it('leaves an audit entry when only a value that the caller does not see changes', async () => {
    const { mine, manager, token, customer } = await givenBoth()
    const path = `/v1/user/${customer.id}`
    await write(sql`update users set first_name = 'Bodil' where id = ${customer.id}`)
    expect((await patch(path, { first_name: 'Bo' }, manager)).body.first_name).toBe('Bo')
    await write(sql`update users set first_name = 'Bodil' where id = ${customer.id}`)
    expect((await patch(path, { first_name: 'Bodil' }, token)).body.first_name).toBe('Bodil')
    expect(await listUpdates(mine, customer.id)).toMatchObject([
      { changes: [{ field: 'edition', before: { first_name: 'Bo' }, after: { first_name: 'Bodil' } }] },
      { changes: [{ field: 'first_name', before: 'Bodil', after: 'Bo' }] },
    ])
  })
})

describe('an organisation role', () => {
  it('adds and changes fields of shared customers', async () => {
    const two = await givenTwo()
    await importOrders(two.theirs, [anOrder({ customer: { email: 'bare@example.dk' } })])
    await attach(two, { email: 'bare@example.dk', first_name: 'Anna' }, two.organizationManager)
    const bare = await loadCustomer(two.mine, 'bare@example.dk')
    expect(bare.first_name).toBe('Anna')
    const reply = await patch(`/v1/user/${bare.id}`, { email: 'changed@example.dk' }, two.organizationManager)
    expect(reply.body).toMatchObject({ email: 'changed@example.dk' })
    // The edition still sees what its own import contained.
    expect((await get(`/v1/user/${bare.id}`, two.viewer)).body.email).toBe('bare@example.dk')
  })

  it('a manager of one edition gains no right by being a viewer of another edition', async () => {
    const two = await givenTwo()
    await attach(two, { email: stranger.email })
    const organization = { id: two.mine.organization_id }
    const member = await givenMember(organization, 'manager', two.mine.edition_id)
    await call(`/v1/organizations/${organization.id}/members`, {
      body: { email: member.email, role: 'viewer', edition_id: two.theirs.edition_id },
    })
    const both = member.token
    // The customer joined the caller's own edition last.
    expect((await get(`/v1/user/${two.user}`, both)).body.first_name).toBe('')
    const reply = await patch(`/v1/user/${two.user}`, { first_name: 'Eve' }, both)
    expect(describeRefusal(reply)).toBe('403 shared_customer')
  })
})
