import { exports } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { buildRequest, call, get, post } from '../support/api.ts'
import { givenAdmin } from '../support/seeding/members.ts'
import { seedSuppressions } from '../support/seeding/messaging/suppressions.ts'
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
        subscribed: 0,
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

describe('importSuppressions of everybody with a status', () => {
  const importRows = async (lines: readonly string[], channel = 'email') => {
    const { id: organization_id, token } = await givenAdmin()
    const { status, body } = await post(`${path}/import`, { organization_id, channel, csv: lines.join('\n') }, token)
    expect(status).toBe(200)
    return { body, reasons: await listReasons(organization_id), organization: organization_id }
  }

  it('suppresses those who are not subscribed, and says which status it does not know', async () => {
    const { body, reasons } = await importRows([
      'email,status',
      'a@example.dk,subscribed',
      'b@example.dk,Unsubscribed',
      'c@example.dk,cleaned',
      'd@example.dk,enabled',
      'e@example.dk,blocklisted',
      'f@example.dk,constructor',
      'g@example.dk,',
      'h@example.dk,Frameldt',
    ])
    expect(reasons).toEqual([
      { address: 'b@example.dk', reason: 'unsubscribed' },
      { address: 'c@example.dk', reason: 'hard_bounce' },
      { address: 'e@example.dk', reason: 'unsubscribed' },
      { address: 'h@example.dk', reason: 'unsubscribed' },
    ])
    expect(body).toMatchObject({ total_rows: 8, added: 4, existing: 0, subscribed: 2, invalid: 2 })
    expect(body.problems).toEqual([
      { line: 7, code: 'unknown_status', message: '`status` does not say whether the person is subscribed.' },
      { line: 8, code: 'unknown_status', message: '`status` does not say whether the person is subscribed.' },
    ])
  })

  it.each([
    ['subscribed', ['true', 'Ja', 'x'], ['false', 'nej', '0']],
    ['is_subscribed', ['1', 'subscribed'], ['unsubscribed', 'no']],
    ['unsubscribed', ['', 'no', 'false'], ['yes', '2024-05-06', 'unsubscribed']],
    ['Opted out', ['0'], ['1', 'opted out']],
    ['confirmed', ['confirmed', 'yes'], ['no']],
  ])('reads a column %s', async (column, subscribed, unsubscribed) => {
    const values = [...subscribed, ...unsubscribed]
    const { body, reasons } = await importRows([
      `email,${column}`,
      ...values.map((value, n) => `${n}@example.dk,${value}`),
    ])
    expect(body).toMatchObject({ subscribed: subscribed.length, added: unsubscribed.length, invalid: 0, problems: [] })
    expect(reasons.map(({ address }) => address)).toEqual(
      unsubscribed.map((_, n) => `${n + subscribed.length}@example.dk`),
    )
  })

  it('suppresses a person who is unsubscribed in one row and subscribed in another', async () => {
    const { body, reasons } = await importRows(['email,status', 'a@example.dk,unsubscribed', 'A@example.dk,subscribed'])
    expect(reasons).toHaveLength(1)
    expect(body).toMatchObject({ added: 1, subscribed: 1, existing: 0 })
  })

  it('takes every row of a list with a reason, whose text is the detail', async () => {
    const { reasons } = await importRows(['email,reason', 'a@example.dk,subscribed by mistake', 'b@example.dk,active'])
    expect(reasons.map(({ reason }) => reason)).toEqual(['unsubscribed', 'unsubscribed'])
  })

  it('reads the times of unsubscribed and cleaned people of Mailchimp', async () => {
    const { organization } = await importRows([
      'Email Address,OPTIN_TIME,UNSUB_TIME,UNSUB_REASON',
      'a@example.dk,2020-01-01 00:00:00,2024-05-06 07:08:09,NORMAL',
    ])
    const [row] = await db.all(sql`select created_at, detail from suppressions where organization_id = ${organization}`)
    expect(row).toEqual({ created_at: Date.UTC(2024, 4, 6, 7, 8, 9), detail: 'NORMAL' })
    const { reasons } = await importRows(['Email Address,CLEAN_TIME', 'a@example.dk,2024-05-06 07:08:09'])
    expect(reasons).toEqual([{ address: 'a@example.dk', reason: 'hard_bounce' }])
  })

  it.each(['2025-02-30', '2025-13-01', '2025-02-30 10:00:00', '2025-04-31T10:00:00Z'])(
    'reports the date %s, which does not exist, and suppresses the address',
    async (date) => {
      const { body, organization } = await importRows(['email,date', `a@example.dk,${date}`])
      expect(body).toMatchObject({ added: 1, problems: [{ line: 2, code: 'invalid_date' }] })
      const [row] = await db.all<{ created_at: number }>(
        sql`select created_at from suppressions where organization_id = ${organization}`,
      )
      expect(row?.created_at).toBeGreaterThan(Date.UTC(2026, 0))
    },
  )
})

describe('exportSuppressions', () => {
  it('keeps addresses that a spreadsheet would compute', async () => {
    const [one, other] = [await givenAdmin(), await givenAdmin()]
    const addresses = ['=anna@example.dk', '-bo@example.dk', '+cara@example.dk']
    for (const address of addresses) await seedSuppressions(one.id, 1, { address, detail: '=1+1' })
    const { text } = await call(`${path}/export?organization_id=${one.id}`, { token: one.token })
    for (const address of addresses) expect(text).toContain(`email,'${address},`)
    const { body } = await post(`${path}/import`, { organization_id: other.id, csv: text }, other.token)
    expect(body).toMatchObject({ added: 3, invalid: 0 })
    expect(await listReasons(other.id)).toEqual(await listReasons(one.id))
    expect(await db.all(sql`select distinct detail from suppressions where organization_id = ${other.id}`)).toEqual([
      { detail: '=1+1' },
    ])
  })

  it('starts with a byte order mark, unless a program asks for none', async () => {
    const { id, token } = await givenAdmin()
    // Reading a body as text removes the byte order mark.
    const readStart = async (query: string) => {
      const response = await exports.default.fetch(
        buildRequest(`${path}/export?organization_id=${id}${query}`, { token }),
      )
      return [...new Uint8Array(await response.arrayBuffer())].slice(0, 3)
    }
    expect(await readStart('')).toEqual([0xef, 0xbb, 0xbf])
    expect(await readStart('&bom=false')).toEqual([...new TextEncoder().encode('cha')])
  })

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
