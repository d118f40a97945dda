import { afterEach, describe, expect, it, vi } from 'vitest'
import { createResendDomains } from '../../src/gateways/email/resend-domains.ts'

afterEach(() => vi.restoreAllMocks())

const domains = createResendDomains({ base: 'https://mail.example', apiKey: 're_key' })
const name = 'nordlys.dk'

type Answers = Record<string, (n: number) => [status: number, body: unknown]>

/** Answers by method and address, and records the requests. */
function mockAnswers(answers: Answers) {
  const requests: string[] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    const { pathname, search } = new URL(url as string)
    const key = `${init?.method} ${pathname}`
    requests.push(`${key}${search}`)
    expect(init?.headers).toMatchObject({ authorization: 'Bearer re_key' })
    const [status, body] = answers[key]?.(requests.length) ?? [404, { name: 'not_found' }]
    return Response.json(body, { status })
  })
  return requests
}

const records = [
  {
    record: 'SPF',
    name: 'send',
    type: 'MX',
    ttl: 'Auto',
    status: 'not_started',
    value: 'feedback.example',
    priority: 10,
  },
  { record: 'SPF', name: 'send', type: 'TXT', ttl: 'Auto', status: 'not_started', value: 'v=spf1 include:x ~all' },
  { record: 'DKIM', name: 'resend._domainkey', type: 'TXT', ttl: 'Auto', status: 'not_started', value: 'p=key' },
  { record: 'constructor', name: 'x', type: 'CNAME', value: 'y', priority: 'high' },
  null,
  { record: 'SPF', name: 5 },
]

const expectedRecords = [
  { purpose: 'spf', type: 'MX', name: 'send', value: 'feedback.example', priority: 10 },
  { purpose: 'spf', type: 'TXT', name: 'send', value: 'v=spf1 include:x ~all', priority: null },
  { purpose: 'dkim', type: 'TXT', name: 'resend._domainkey', value: 'p=key', priority: null },
  { purpose: 'other', type: 'CNAME', name: 'x', value: 'y', priority: null },
]

describe('the domains at Resend', () => {
  it('are added, returned with their records, and verified', async () => {
    const requests = mockAnswers({
      'POST /domains': () => [201, { id: 'd1', name }],
      'GET /domains/d1': () => [200, { id: 'd1', name, status: 'not_started', records }],
      'POST /domains/d1/verify': () => [200, { id: 'd1' }],
    })
    expect(await domains.check(name, null)).toEqual({ id: 'd1', is_verified: false, records: expectedRecords })
    expect(requests).toEqual(['POST /domains', 'GET /domains/d1', 'POST /domains/d1/verify'])
  })

  it('are read when they exist, and added again when they are gone', async () => {
    const requests = mockAnswers({
      'GET /domains/d1': () => [200, { id: 'd1', name, status: 'verified', records: 'none' }],
    })
    expect(await domains.check(name, 'd1')).toEqual({ id: 'd1', is_verified: true, records: [] })
    expect(requests).toEqual(['GET /domains/d1'])
    mockAnswers({
      'POST /domains': () => [201, { id: 'd2', name }],
      'GET /domains/d2': () => [200, { id: 'd2', name, status: 'pending', records: [] }],
    })
    expect(await domains.check(name, 'd1')).toEqual({ id: 'd2', is_verified: false, records: [] })
  })

  it('are found page by page when they were added before', async () => {
    const requests = mockAnswers({
      'POST /domains': () => [403, { name: 'validation_error', message: 'The domain has been registered already.' }],
      'GET /domains': (n) =>
        n === 2
          ? [200, { has_more: true, data: [null, { id: 'o1', name: 'other.dk' }] }]
          : [200, { has_more: false, data: [{ id: 'd3', name: 'Nordlys.DK' }] }],
      'GET /domains/d3': () => [200, { id: 'd3', name, status: 'verified', records: [] }],
    })
    expect(await domains.check(name, null)).toMatchObject({ id: 'd3', is_verified: true })
    expect(requests).toEqual([
      'POST /domains',
      'GET /domains?limit=100',
      'GET /domains?limit=100&after=o1',
      'GET /domains/d3',
    ])
  })

  it('are unknown when the key may not read them', async () => {
    mockAnswers({ 'POST /domains': () => [401, { name: 'restricted_api_key' }], 'GET /domains': () => [401, {}] })
    expect(await domains.check(name, null)).toBeNull()
  })

  it('are unknown when another domain has their id', async () => {
    mockAnswers({
      'POST /domains': () => [201, { id: 'd1' }],
      'GET /domains/d1': () => [200, { id: 'd1', name: 'other.dk', status: 'verified' }],
    })
    expect(await domains.check(name, null)).toBeNull()
  })

  it('are unknown when no answer comes', async () => {
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('refused'))
    expect(await domains.check(name, 'd1')).toBeNull()
  })

  it('are unknown after ten pages without them', async () => {
    const requests = mockAnswers({
      'GET /domains': (n) => [200, { has_more: true, data: [{ id: `o${n}`, name: 'other.dk' }] }],
    })
    expect(await domains.check(name, null)).toBeNull()
    expect(requests).toHaveLength(11)
  })
})
