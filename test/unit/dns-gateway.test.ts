import { afterEach, describe, expect, it, vi } from 'vitest'
import { createDnsOverHttps } from '../../src/gateways/dns/https.ts'
import { watchTimers } from '../support/outbound.ts'

afterEach(() => vi.restoreAllMocks())

const name = '_event-commerce.nordlys.dk'
const dns = createDnsOverHttps({ apiBase: 'https://dns.example/query' })
const mockAnswer = (body: unknown, status = 200) =>
  vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async () => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status }))
const txt = (data: unknown, fields: object = {}) => ({ name, type: 16, TTL: 300, data, ...fields })
const texts = async (...answers: unknown[]) => {
  mockAnswer({ Status: 0, Answer: answers })
  return dns.lookUpTxt(name)
}
const buildResult = (...all: string[]) => ({ ok: true, texts: all })
const failure = { ok: false, code: 'failure' }

describe('a DNS resolver over HTTPS', () => {
  it('gets one request, in its JSON form, and no redirect is followed', async () => {
    const fetched = mockAnswer({ Status: 0, Answer: [txt('"one"')] })
    const longest = watchTimers()
    expect(await dns.lookUpTxt(name)).toEqual(buildResult('one'))
    expect(fetched).toHaveBeenCalledTimes(1)
    const [url, init] = fetched.mock.calls[0] ?? []
    expect(url).toBe(`https://dns.example/query?name=${name}&type=TXT`)
    expect(init).toMatchObject({ method: 'GET', redirect: 'manual', headers: { accept: 'application/dns-json' } })
    expect(longest()).toBe(15_000)
  })

  it('may return a text in parts, with or without quotes', async () => {
    expect(await texts(txt('"one" "two"'), txt('plain text'), txt(String.raw`"a\"b\\c\065"`))).toEqual(
      buildResult('onetwo', 'plain text', String.raw`a"b\cA`),
    )
    expect(await texts(txt('"never closed'), txt(''), txt('""'))).toEqual(buildResult('never closed', '', ''))
  })

  it('is believed only for records of the name and of its aliases', async () => {
    const alias = { name: `${name}.`, type: 5, data: 'Proof.example.' }
    expect(
      await texts(alias, txt('"aliased"', { name: 'proof.example' }), txt('"other"', { name: 'x.example' })),
    ).toEqual(buildResult('aliased'))
    expect(await texts(txt('"upper"', { name: name.toUpperCase() }))).toEqual(buildResult('upper'))
    expect(await texts({ name, type: 1, data: '"not a text"' }, txt('"above"', { name: 'nordlys.dk' }))).toEqual(
      buildResult(),
    )
  })

  it('ends a loop of aliases, and an endless chain', async () => {
    const loop = [name, 'a.example', 'b.example'].map((from, index, all) => ({
      name: from,
      type: 5,
      data: all[(index + 1) % 3],
    }))
    expect(await texts(...loop, txt('"looped"', { name: 'b.example' }))).toEqual(buildResult('looped'))
    const chain = Array.from({ length: 150 }, (_, n) => ({
      name: n ? `a${n}.example` : name,
      type: 5,
      data: `a${n + 1}.example`,
    }))
    expect(await texts(...chain, txt('"far"', { name: 'a150.example' }))).toEqual(buildResult())
  })

  it('tells a missing name from a failed query', async () => {
    mockAnswer({ Status: 3 })
    expect(await dns.lookUpTxt(name)).toEqual(buildResult())
    mockAnswer({ Status: 0 })
    expect(await dns.lookUpTxt(name)).toEqual(buildResult())
    for (const body of [
      { Status: 2 },
      { Status: 5 },
      { Status: 0, TC: true, Answer: [] },
      {},
      [],
      'null',
      '<html>',
      '',
    ]) {
      mockAnswer(body)
      expect([body, await dns.lookUpTxt(name)]).toEqual([body, failure])
    }
    for (const status of [302, 400, 429, 500]) {
      mockAnswer({ Status: 0, Answer: [txt('"one"')] }, status)
      expect([status, await dns.lookUpTxt(name)]).toEqual([status, failure])
    }
  })

  it('may return malformed records, which are ignored', async () => {
    const malformedRecords = [
      null,
      1,
      'x',
      [],
      {},
      txt(5),
      txt(null),
      txt({}),
      { ...txt('"x"'), type: '16' },
      { ...txt('"x"'), name: 1 },
    ]
    expect(await texts(...malformedRecords, txt('"one"'))).toEqual(buildResult('one'))
  })

  it('fails when its answer is no list', async () => {
    mockAnswer({ Status: 0, Answer: { length: 5 } })
    expect(await dns.lookUpTxt(name)).toEqual(failure)
  })

  it('is read up to 200 records', async () => {
    const many = await texts(...Array.from({ length: 5000 }, () => txt('"x"')))
    expect(many.ok && many.texts.length).toBe(200)
  })

  it('is read up to 4096 characters of a record', async () => {
    const long = await texts(txt(`"${'x'.repeat(100_000)}"`), txt(`"${'\\"'.repeat(40_000)}`))
    expect(long.ok && long.texts.every((text) => text.length <= 4096)).toBe(true)
  })

  it('is not believed when its answer is too large, late or malformed', async () => {
    mockAnswer(JSON.stringify({ Status: 0, Answer: [txt('x'.repeat(600_000))] }))
    expect(await dns.lookUpTxt(name)).toEqual(failure)
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('refused'))
    expect(await dns.lookUpTxt(name)).toEqual(failure)
    vi.spyOn(globalThis, 'fetch').mockImplementation(
      (_, init) =>
        new Promise((_resolve, reject) =>
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)),
        ),
    )
    const hasty = createDnsOverHttps({ apiBase: 'https://dns.example', timeoutMs: 5 })
    expect(await hasty.lookUpTxt(name)).toEqual({ ok: false, code: 'timeout' })
    expect(await createDnsOverHttps({ apiBase: 'no address' }).lookUpTxt(name)).toEqual(failure)
  })
})
