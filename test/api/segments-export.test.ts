import { exports } from 'cloudflare:workers'
import { parse } from 'csv-parse/browser/esm/sync'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { call, callWith, get, buildRequest } from '../support/api.ts'
import { watchDatabase } from '../support/bindings.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedAnswer, seedConsent } from '../support/seeding/messaging/consents.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { calculate } from '../support/segments.ts'

const read = (text: string): string[][] => parse(text, { bom: true })

async function seedCalculatedSegment(people: Parameters<typeof seedPeople>[1], fields: Record<string, unknown> = {}) {
  const organisation = await givenOrganization()
  const rows = await seedPeople({ organization: organisation.id }, people)
  const segment = await givenSegment({ organization_id: organisation.id, ...fields })
  return { organisation, rows, id: segment.id as string, path: `/v1/segments/${segment.id}/export` }
}

describe('exportSegmentUsers', () => {
  it('streams the members as CSV with a file name', async () => {
    const { id, path, rows } = await seedCalculatedSegment(
      [
        { last_seen_at: Date.UTC(2026, 1, 2, 3) },
        { email: null },
        { first_name: 'Åse "Bo", jr.\nHolm', phone_number: null },
      ],
      { name: 'Ærlige gæster!' },
    )
    await calculate(id)
    const { headers, text } = await get(path)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="segment-aerlige-gaester-\d{4}-\d\d-\d\d\.csv"$/,
    )
    const [header, first, second, ...more] = read(text)
    expect(header).toEqual([
      'id',
      'email',
      'phone_number',
      'first_name',
      'last_name',
      'locale',
      'date_joined',
      'last_seen',
      'consent_status',
    ])
    const [one, , three] = rows
    expect(first).toEqual([
      one?.id,
      one?.email,
      one?.phone_number,
      'Ægir',
      one?.last_name,
      'da',
      '2026-01-15T09:00:00.000Z',
      '2026-02-02T03:00:00.000Z',
      'none',
    ])
    expect(second?.slice(0, 4)).toEqual([three?.id, three?.email, '', 'Åse "Bo", jr.\nHolm'])
    expect(more).toEqual([])
    expect(text.split('\r\n')).toHaveLength(4)
    expect(text.endsWith('\r\n')).toBe(true)
  })

  it('writes the requested columns in their order, and a byte order mark for spreadsheets', async () => {
    const { id, path, rows } = await seedCalculatedSegment([{}])
    await calculate(id)
    const { text } = await get(`${path}?columns=locale,id,locale`)
    // Reading a body as text removes the byte order mark.
    expect(text).toBe(`locale,id\r\nda,${rows[0]?.id}\r\n`)
    const bytes = async (query: string) => {
      const response = await exports.default.fetch(buildRequest(`${path}?${query}`))
      return [...new Uint8Array(await response.arrayBuffer())].slice(0, 3)
    }
    expect(await bytes('columns=id')).toEqual([0xef, 0xbb, 0xbf])
    expect(await bytes('bom=false&columns=id')).toEqual([...new TextEncoder().encode('id\r')])
    for (const columns of ['password', 'id,password', ','])
      expect((await get(`${path}?columns=${columns}`)).body.errors).toMatchObject([
        { code: 'invalid_choice', attr: 'columns', pointer: null },
      ])
  })

  it('escapes formulas, and keeps telephone numbers and signed numbers', async () => {
    const evil = ['=1+1', '+cmd|calc', '-2', '@SUM(A1)', '\tx', "'quoted", 'a=b']
    const { id, path } = await seedCalculatedSegment(
      evil.map((first_name) => ({ first_name })),
      { communication_channel: 'sms' },
    )
    await calculate(id)
    const rows = read((await get(`${path}?columns=first_name,phone_number`)).text).slice(1)
    expect(rows.map(([name]) => name)).toEqual(["'=1+1", "'+cmd|calc", '-2', "'@SUM(A1)", "'\tx", "'quoted", 'a=b'])
    for (const [, phone] of rows) expect(phone).toMatch(/^\+45\d{8}$/)
  })

  it('shows the consent status of each person for the channel', async () => {
    const { organisation, rows, id, path } = await seedCalculatedSegment([{}, {}, {}, {}])
    const consent = await seedConsent({ organization: organisation.id, edition: null })
    const [given1, withdrawn, expired] = rows
    if (!given1 || !withdrawn || !expired) throw new Error('nobody')
    await seedAnswer(given1, consent, 'given')
    await seedAnswer(withdrawn, consent, 'withdrawn')
    await seedAnswer(expired, consent, 'given', { expires_at: 1 })
    await calculate(id)
    const { text } = await get(`${path}?columns=consent_status`)
    expect(text).toBe('consent_status\r\ngiven\r\nwithdrawn\r\nexpired\r\nnone\r\n')
  })

  it('exports any number of members', async () => {
    const { id, path } = await seedCalculatedSegment(Array.from({ length: 4003 }, () => ({})))
    await calculate(id)
    const statements: string[] = []
    const reply = await callWith(
      watchDatabase((text) => statements.push(text)),
      `${path}?columns=id`,
    )
    const ids = read(reply.text).slice(1)
    expect([ids.length, new Set(ids.map(([one]) => one)).size]).toEqual([4003, 4003])
    expect(statements.filter((text) => text.includes('from segment_members'))).toHaveLength(3)
  })

  it('finishes with the members of its start when a calculation replaces them at the same time', async () => {
    const { id, path, rows } = await seedCalculatedSegment(Array.from({ length: 2100 }, () => ({})))
    await calculate(id)
    const response = await exports.default.fetch(buildRequest(`${path}?columns=id`))
    const reader = response.body?.getReader()
    let text = ''
    const decoder = new TextDecoder()
    const next = async () => {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
      text += decoder.decode(value as Uint8Array | undefined)
      return !done
    }
    await next()
    await db.batch([sql`update users set email = null where organization_id = ${rows[0]?.organization_id}`])
    expect((await calculate(id)).user_count).toBe(0)
    while (await next());
    expect(read(text)).toHaveLength(2101)
  })

  it('is refused before the segment is ready, and records nothing', async () => {
    const { id, path } = await seedCalculatedSegment([{}])
    const { status, body } = await get(path)
    expect(describeRefusal({ status, body })).toBe('409 segment_not_ready')
    expect(body.current_status).toBe('draft')
    expect(await db.all(sql`select id from segment_exports where segment_id = ${id}`)).toEqual([])
  })

  it('records who exported which columns, before the first row is sent', async () => {
    const { organisation, id, path } = await seedCalculatedSegment([{}, {}])
    await calculate(id)
    const { token, account_id } = await givenMember(organisation, 'manager')
    const reply = await call(`${path}?columns=id,email`, { token })
    expect(reply.status).toBe(200)
    const rows = await db.all(sql`select organization_id, caller_id, request_id, columns, user_count
      from segment_exports where segment_id = ${id}`)
    expect(rows).toEqual([
      {
        organization_id: organisation.id,
        caller_id: account_id,
        request_id: reply.headers.get('x-request-id'),
        columns: '["id","email"]',
        user_count: 2,
      },
    ])
  })
})
