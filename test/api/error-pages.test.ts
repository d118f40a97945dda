import { describe, expect, it } from 'vitest'
import { app } from '../../src/app.ts'
import { errorGuide, fieldGuide } from '../../src/domain/error-guide.ts'
import { AppError, type ErrorCode, errorStatus } from '../../src/domain/errors.ts'
import type { FieldCode } from '../../src/domain/field-error.ts'
import { createRouteError } from '../../src/http/operations/unrouted.ts'
import { codePage } from '../../src/http/pages/error-pages.ts'
import { buildProblem } from '../../src/http/problem.ts'
import { call, callWith, get, readLinkPath, post, publicUrl } from '../support/api.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'

const codes = Object.keys(errorStatus) as ErrorCode[]
const allCodes = [...new Set([...codes, ...Object.keys(fieldGuide)])]
const html = (path: string) => call(path, { token: null, headers: { accept: 'text/html,*/*;q=0.8' } })

/** Returns the text of a page as a reader sees it. */
const readText = (page: string) =>
  page
    .replaceAll(/<style>[^]*?<\/style>/g, '')
    .replaceAll(/<\/?code>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

const removeBackticks = (text: string) => text.replaceAll('`', '')

const readExample = (page: string) => JSON.parse(readText(/<pre>([^]*?)<\/pre>/.exec(page)?.[1] ?? '').trim())

describe('the type of a problem', () => {
  it('opens the page of its code under PUBLIC_URL', async () => {
    const refusal = await post('/v1/organizations', {})
    expect(refusal.body.type).toBe(`${publicUrl}/docs/errors/validation_error`)
    const page = await html(readLinkPath(refusal.body.type))
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
    expect(readText(page.text)).toContain('validation_error')
  })

  it('uses the host of the request when PUBLIC_URL is empty, and drops a slash at its end', async () => {
    const typeUnder = async (PUBLIC_URL: string) => (await callWith({ PUBLIC_URL }, '/v1/orders')).body.type
    expect(await typeUnder('')).toBe('https://api.example/docs/errors/validation_error')
    expect(await typeUnder('https://a.example/base/')).toBe('https://a.example/base/docs/errors/validation_error')
  })

  it('is in every refusal, also before authentication', async () => {
    const refusals = await Promise.all([
      call('/v1/orders', { token: null }),
      get('/v1/nothing'),
      get('/v1/editions/edt_nothing'),
      call('/v1/organizations', { method: 'POST', raw: '{', headers: { 'content-type': 'application/json' } }),
      call('/v1/organizations', { method: 'PATCH', body: {} }),
      get('/nothing'),
    ])
    for (const { body } of refusals) {
      expect(body.type).toBe(`${publicUrl}/docs/errors/${body.code}`)
      expect((await html(readLinkPath(body.type))).status).toBe(200)
    }
  })

  it('is the same for hidden and for missing resources', async () => {
    const mine = await givenOrganization()
    const hidden = await seedEdition(await givenOrganization())
    const { token } = await givenMember(mine, 'admin')
    const [one, other] = [await get(`/v1/editions/${hidden.id}`, token), await get('/v1/editions/edt_none', token)]
    expect([one.status, one.text]).toEqual([404, other.text])
  })
})

describe('/docs/errors', () => {
  it('lists every code with its status, and each link opens a page', async () => {
    const page = await html('/docs/errors')
    const links = [...page.text.matchAll(/href="\/docs\/errors\/(\w+)"/g)].map(([, code]) => code)
    expect(new Set(links)).toEqual(new Set(allCodes))
    for (const code of codes) expect(readText(page.text)).toMatch(new RegExp(`\\b${errorStatus[code]}\\s+${code}\\b`))
  })

  it.each(codes)('explains %s with an example of the answer', async (code) => {
    const { status, text } = await html(`/docs/errors/${code}`)
    expect(status).toBe(200)
    const { cause, fix = '', example } = errorGuide[code]
    expect(readText(text)).toContain(removeBackticks(cause))
    expect(readText(text)).toContain(removeBackticks(fix))
    const body = readExample(text)
    const { detail, errors = [], extra = {} } = example
    const answer = buildProblem(new AppError(code, detail, { errors, extra }), {
      path: body.instance ?? '',
      requestId: body.request_id ?? '',
      type: `${publicUrl}/docs/errors/${code}`,
    })
    expect(body).toEqual(JSON.parse(answer.body))
    // The path of the example exists.
    if (code !== 'not_found') expect(createRouteError(app.routes, body.instance).code).toBe('method_not_allowed')
    for (const error of body.errors) expect(fieldGuide).toHaveProperty(error.code)
  })

  it.each(Object.keys(fieldGuide))('explains the field code %s', async (code) => {
    const { status, text } = await html(`/docs/errors/${code}`)
    expect(status).toBe(200)
    const { cause, fix = '' } = fieldGuide[code as FieldCode]
    expect(readText(text)).toContain(removeBackticks(cause))
    expect(readText(text)).toContain(removeBackticks(fix))
  })

  it('answers 404 for unknown codes, also for names of object properties', async () => {
    for (const code of ['nothing', 'constructor', '__proto__', 'toString', '%3Cscript%3E', 'a%00b', 'hasOwnProperty'])
      expect([code, (await html(`/docs/errors/${code}`)).status]).toEqual([code, 404])
  })

  it('runs no scripts and loads nothing', async () => {
    for (const path of ['/docs/errors', '/docs/errors/max_length', '/']) {
      const { headers, text } = await html(path)
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+=*'; /)
      expect(policy).not.toContain('unsafe')
      expect(text).not.toMatch(/<script|javascript:| on\w+=|https?:\/\/(?!events\.example\.test)/)
      // The hash in the policy is that of the page's style.
      const style = /<style>([^]*?)<\/style>/.exec(text)?.[1] ?? ''
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style)))
      expect(policy).toContain(`'sha256-${btoa(String.fromCodePoint(...digest))}'`)
    }
  })

  it('escapes all values', async () => {
    const hostile = '<img src=x onerror=alert(1)>"&\''
    const page = String(await codePage('not_found', (path) => `https://a.example/${hostile}${path}`))
    expect(page).not.toMatch(/<img|alert\(1\)>"/)
    expect(readExample(page).type).toBe(`https://a.example/${hostile}/docs/errors/not_found`)
  })
})

describe('the root page', () => {
  it('lists the documents as JSON for programs', async () => {
    const { status, headers, body } = await call('/', { token: null })
    expect(status).toBe(200)
    expect(headers.get('vary')?.toLowerCase()).toContain('accept')
    expect(body).toEqual({
      name: 'Event Commerce Management Service',
      console: `${publicUrl}/console`,
      docs: `${publicUrl}/docs`,
      llms: `${publicUrl}/llms.txt`,
      errors: `${publicUrl}/docs/errors`,
      openapi: `${publicUrl}/openapi.json`,
      health: `${publicUrl}/healthz`,
      outbox: `${publicUrl}/dev/outbox`,
    })
    for (const [name, link] of Object.entries(body).slice(1))
      expect([name, (await call(readLinkPath(String(link)), { token: null })).status]).toEqual([name, 200])
  })

  it('says what the service is and lists the same documents on a page for people', async () => {
    const { headers, text } = await html('/')
    expect(text).toContain('An HTTP API for organisations that run events')
    expect(headers.get('content-type')).toContain('text/html')
    expect([...text.matchAll(/href="(\/[^"]*)"/g)].map(([, link]) => link)).toEqual(
      expect.arrayContaining(['/console', '/docs', '/docs/errors', '/openapi.json', '/healthz', '/dev/outbox']),
    )
  })

  it('links to the dev mailbox only where it exists', async () => {
    const { body } = await callWith({ ENVIRONMENT: 'production' }, '/', { token: null })
    expect(body).not.toHaveProperty('outbox')
    const page = await callWith({ ENVIRONMENT: 'production' }, '/', { token: null, headers: { accept: 'text/html' } })
    expect(page.text).not.toContain('outbox')
  })
})
