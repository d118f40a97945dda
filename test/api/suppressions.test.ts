import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { call, get, post } from '../support/api.ts'
import { seedSuppressions } from '../support/seeding/messaging/suppressions.ts'
import { givenAdmin } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'

const path = '/v1/suppressions'
const listReasons = (organization: string) =>
  db.all(sql<{ address: string; reason: string }>`select address, reason from suppressions
    where organization_id = ${organization} order by address`)
const listEntries = (organization: string) =>
  db.all(sql<{
    action: string
    changes: string
    resource_id: string
  }>`select action, changes, resource_id from audit_log
    where organization_id = ${organization} and action like '%uppression%' order by created_at, id`)

describe('listSuppressions', () => {
  it('finds an address of your organisation in any spelling, and filters by channel and reason', async () => {
    const [one, other] = [await givenAdmin(), await givenAdmin()]
    await seedSuppressions(one.id, 2)
    const [id] = await seedSuppressions(one.id, 1, { address: 'anna@bücher.example', reason: 'complaint' })
    const [phone] = await seedSuppressions(one.id, 1, { address: '+4532123456', channel: 'sms' })
    await seedSuppressions(other.id, 1, { address: 'anna@bücher.example' })
    const list = async (query: string) =>
      (await get(`${path}?${query}`, one.token)).body.results.map((row: { id: string }) => row.id)
    expect(await list('address=Anna@XN--BCHER-KVA.example')).toEqual([id])
    expect(await list(`address=${encodeURIComponent('+45 32 12 34 56')}`)).toEqual([phone])
    expect(await list('reason=complaint')).toEqual([id])
    expect(await list('channel=sms')).toEqual([phone])
    expect(await list('address=nobody')).toEqual([])
    expect(await list('')).toHaveLength(4)
    expect(await list(`organization_id=${other.id}`)).toEqual([])
  })
})

describe('addSuppression', () => {
  it('stores an address once, in its normal form', async () => {
    const { id: organization_id, token } = await givenAdmin()
    const body = { organization_id, channel: 'email', address: 'Anna@xn--bcher-kva.example' }
    const reply = await post(path, body, token)
    expect([reply.status, reply.body]).toMatchObject([
      201,
      { address: 'anna@bücher.example', reason: 'unsubscribed', detail: '', campaign_id: null },
    ])
    expect((await get(`${path}/${reply.body.id}`, token)).body).toEqual(reply.body)
    const secondReply = await post(path, { ...body, address: 'anna@BÜCHER.example' }, token)
    expect([secondReply.status, secondReply.body.errors?.[0]?.code]).toEqual([400, 'unique'])
  })

  it.each([
    ['email', 'nobody', 'invalid_email'],
    ['sms', '32123456', 'invalid_phone'],
  ])('refuses an invalid address of %s', async (channel, address, code) => {
    const { id: organization_id, token } = await givenAdmin()
    const { status, body } = await post(path, { organization_id, channel, address }, token)
    expect([status, body.errors?.[0]?.code]).toEqual([400, code])
  })

  it('keeps the address out of the audit log, which no erasure would find', async () => {
    const { id: organization_id, token } = await givenAdmin()
    const { body } = await post(path, { organization_id, channel: 'email', address: 'anna@example.dk' }, token)
    const [entry] = await listEntries(organization_id)
    expect(entry).toMatchObject({ action: 'addSuppression', resource_id: body.id })
    expect(entry?.changes).not.toContain('anna')
  })
})

describe('importSuppressions', () => {
  it('adds the list of another system, with reasons and dates', async () => {
    const { id: organization_id, token } = await givenAdmin()
    await seedSuppressions(organization_id, 1, { address: 'known@example.dk', reason: 'complaint' })
    const csv = [
      '\uFEFFE-mail;Reason;Date;Name',
      'Anna@xn--bcher-kva.example;unsubscribed;2024-05-06;Anna',
      '"bo@example.dk";Hard bounce;2024-05-06 07:08:09;',
      'anna@bücher.example;complaint;2024-05-07;again',
      'known@example.dk;unsubscribed;;',
      'cara@example.dk;Moved to Peru;soon;',
      'nobody;;;',
      ';;;',
    ].join('\r\n')
    const { status, body } = await post(`${path}/import`, { organization_id, csv }, token)
    expect([status, body]).toEqual([
      200,
      {
        organization_id,
        total_rows: 6,
        added: 3,
        existing: 2,
        invalid: 1,
        problems: [
          { line: 6, code: 'invalid_date', message: expect.any(String) },
          { line: 7, code: 'invalid_address', message: expect.any(String) },
        ],
      },
    ])
    expect(
      await db.all(sql`select address, reason, detail, created_at from suppressions
        where organization_id = ${organization_id} and address <> 'known@example.dk' order by address`),
    ).toEqual([
      { address: 'anna@bücher.example', reason: 'complaint', detail: '', created_at: Date.UTC(2024, 4, 7) },
      { address: 'bo@example.dk', reason: 'hard_bounce', detail: '', created_at: Date.UTC(2024, 4, 6, 7, 8, 9) },
      { address: 'cara@example.dk', reason: 'unsubscribed', detail: 'Moved to Peru', created_at: expect.any(Number) },
    ])
    expect((await listEntries(organization_id)).map(({ action }) => action)).toEqual(['importSuppressions'])
  })

  it('changes nothing the second time, and never weakens a reason', async () => {
    const { id: organization_id, token } = await givenAdmin()
    const importCsv = (csv: string) => post(`${path}/import`, { organization_id, csv }, token)
    await importCsv('email,reason\na@example.dk,complaint\nb@example.dk,unsubscribed\n')
    const { body } = await importCsv('email,reason\na@example.dk,unsubscribed\nb@example.dk,bounced\n')
    expect(body).toMatchObject({ added: 0, existing: 2 })
    expect(await listReasons(organization_id)).toEqual([
      { address: 'a@example.dk', reason: 'complaint' },
      { address: 'b@example.dk', reason: 'hard_bounce' },
    ])
  })

  it('reads a list of addresses without a header', async () => {
    const { id: organization_id, token } = await givenAdmin()
    const csv = '+45 32 12 34 56\n+46 8 123 456 78\n'
    const { body } = await post(`${path}/import`, { organization_id, channel: 'sms', csv }, token)
    expect(body).toMatchObject({ total_rows: 2, added: 2 })
  })
})

describe('exportSuppressions', () => {
  it('exports a file that the import of another organisation reads', async () => {
    const [one, other] = [await givenAdmin(), await givenAdmin()]
    await seedSuppressions(one.id, 1100, { reason: 'complaint' })
    await seedSuppressions(one.id, 1, { address: 'anna@bücher.example', detail: '=1+1, "x"' })
    const { status, text } = await call(`${path}/export?organization_id=${one.id}`, { token: one.token })
    expect(status).toBe(200)
    const body = { organization_id: other.id, csv: text }
    expect((await post(`${path}/import`, body, other.token)).body).toMatchObject({ added: 1101, invalid: 0 })
    expect(await listReasons(other.id)).toEqual(await listReasons(one.id))
    expect((await listEntries(one.id)).map(({ action }) => action)).toEqual(['exportSuppressions'])
  })
})

describe('getSuppression', () => {
  it('returns 404 to another organisation', async () => {
    const [one, other] = [await givenAdmin(), await givenAdmin()]
    const [id] = await seedSuppressions(other.id, 1)
    expect((await get(`${path}/${id}`, one.token)).status).toBe(404)
  })
})

describe('liftSuppression', () => {
  it('ends the suppression and records why', async () => {
    const { id: organization, token } = await givenAdmin()
    const [id] = await seedSuppressions(organization, 1, { reason: 'hard_bounce' })
    const lift = (lift_reason: string) => post(`${path}/${id}/lift`, { lift_reason }, token)
    expect((await lift(' ')).status).toBe(400)
    const { status, body } = await lift('The mailbox works again')
    expect([status, body]).toMatchObject([200, { id, lift_reason: 'The mailbox works again' }])
    expect(await listReasons(organization)).toEqual([])
    expect((await lift('Again')).status).toBe(404)
    const [entry] = await listEntries(organization)
    expect(entry).toMatchObject({ action: 'liftSuppression', resource_id: id })
    expect(entry?.changes).toContain('The mailbox works again')
  })
})
