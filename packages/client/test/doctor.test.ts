import { describe, expect, it } from 'vitest'
import { checkAccount } from '../cli/doctor/account.ts'
import type { Check } from '../cli/doctor/check.ts'
import { checkService } from '../cli/doctor/service.ts'
import { operationTable } from '../cli/operations.ts'
import { createClient } from '../src/index.ts'
import { type Answer, json, problem, startStub } from './stub.ts'

const page = (...results: object[]) => json(200, { count: results.length, next: null, previous: null, results })

const paths: Record<string, Record<string, { operationId: string }>> = {}
for (const [operationId, { path, method }] of Object.entries(operationTable))
  paths[path] = { ...paths[path], [method]: { operationId } }

const user = {
  is_superuser: false,
  organizations: [{ id: 'org_1', name: 'Nordlys', role: 'admin' }],
  editions: [],
  editions_count: 0,
  token: { kind: 'personal', scopes: ['read'], expires_at: null },
}

const healthy: Readonly<Record<string, Answer>> = {
  '/healthz': json(200, { status: 'ok', email: 'configured', sms: 'configured' }),
  '/': json(404, {}),
  '/openapi.json': json(200, { info: { version: '1.0.0' }, paths }),
  '/v1/auth/user-info': json(200, user),
  '/v1/organizations/org_1/sender-domains': page({ domain: 'nordlys.dk', status: 'verified', last_check: null }),
  '/v1/webhooks': page({ is_active: true, failing_since: null }),
}

/** Examines a service that answers like a healthy one, except at these paths. */
async function examine(answers: Readonly<Record<string, Answer>> = {}, token: string | null = 'ecm_1') {
  using stub = await startStub(
    (path) => ({ ...healthy, ...answers })[path.split('?')[0] ?? ''] ?? problem(404, 'not_found'),
  )
  const connection = { url: stub.url, token, source: '--token', isDevelopment: false }
  const { checks } = await checkService(connection)
  const client = createClient({ url: stub.url, token: token ?? '', maxRetries: 0 })
  return [...checks, ...(await checkAccount(client, connection))]
}

const find = (checks: readonly Check[], name: string) => checks.filter(({ check }) => check === name)

describe('the checks of ecm doctor', () => {
  it('find nothing wrong with a healthy service', async () => {
    const checks = await examine()
    expect(checks.filter(({ status }) => status !== 'ok').map(({ check }) => check)).toEqual(['links'])
    expect(checks.map(({ check }) => check)).toEqual([
      'address',
      'version',
      'links',
      'clock',
      'e-mail',
      'sms',
      'token',
      'roles',
      'sender domains',
      'webhooks',
    ])
  })

  it.for<[fault: string, path: string, answer: Answer, check: string, remedy: string]>([
    [
      'no e-mail provider',
      '/healthz',
      json(200, { status: 'ok', email: 'not configured' }),
      'e-mail',
      'EMAIL_PROVIDER',
    ],
    ['an unreached database', '/healthz', json(503, { status: 'unavailable' }), 'address', 'Wait'],
    ['another website', '/healthz', json(200, ['hello']), 'address', 'Check the address'],
    ['links that lead elsewhere', '/', json(200, { docs: 'http://127.0.0.1:9/docs' }), 'links', 'PUBLIC_URL'],
    [
      'a clock that differs',
      '/healthz',
      json(200, { status: 'ok' }, { date: new Date(Date.now() - 3_600_000).toUTCString() }),
      'clock',
      'network',
    ],
    ['a token that has ended', '/v1/auth/user-info', problem(401, 'not_authenticated'), 'token', 'ecm login --url'],
    ['no role', '/v1/auth/user-info', json(200, { ...user, organizations: [] }), 'roles', 'Ask an admin'],
    [
      'an unverified domain',
      '/v1/organizations/org_1/sender-domains',
      page({ id: 'sdm_1', domain: 'nordlys.dk', status: 'pending', last_check: { detail: 'No record.' } }),
      'sender domains',
      'ecm api verifySenderDomain id=org_1 domain_id=sdm_1',
    ],
    [
      'a failing endpoint',
      '/v1/webhooks',
      page({ id: 'whk_1', name: 'Shop', is_active: true, failing_since: '2026-01-01T00:00:00Z' }),
      'webhooks',
      'listWebhookDeliveries id=whk_1',
    ],
    ['an error of the service', '/v1/webhooks', problem(500, 'internal_error'), 'webhooks', 'again'],
  ])('find %s, and say how to mend it', async ([, path, answer, check, remedy]) => {
    const checks = find(await examine({ [path]: answer }), check)
    expect(checks).toMatchObject([{ status: 'fault', remedy: expect.stringContaining(remedy) as unknown }])
  })

  it('warn of background work that does not run, and go on', async () => {
    const checks = await examine({ '/healthz': json(503, { status: 'late', email: 'configured', sms: 'configured' }) })
    expect(find(checks, 'address')).toMatchObject([
      { status: 'warning', remedy: expect.stringContaining('late sweeps') },
    ])
    expect(find(checks, 'roles')).toMatchObject([{ status: 'ok' }])
  })

  it('find endpoints that the service switched off, and not those that a person switched off', async () => {
    const disabled = (reason: string) => ({
      '/v1/webhooks': page({ id: 'whk_1', is_active: false, failing_since: null, disabled_at: '2026-01-01T00:00:00Z' }),
      '/v1/webhooks/whk_1': json(200, { disabled_reason: reason }),
    })
    expect(find(await examine(disabled('failing')), 'webhooks')).toMatchObject([
      { status: 'fault', remedy: expect.stringContaining('is_active:=true') as unknown },
    ])
    expect(find(await examine(disabled('manual')), 'webhooks')).toMatchObject([{ status: 'ok' }])
  })

  it('warn of what works now: a token that expires soon, another version, no provider for SMS', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const { '/v1/orders': _, ...others } = paths
    const checks = await examine({
      '/v1/auth/user-info': json(200, { ...user, token: { ...user.token, expires_at } }),
      '/openapi.json': json(200, { info: {}, paths: others }),
      '/healthz': json(200, { status: 'ok', email: 'configured', sms: 'not configured' }),
    })
    const warnings = checks.filter(({ status }) => status === 'warning')
    expect(warnings.map(({ check }) => check)).toEqual(['version', 'sms', 'token'])
    expect(warnings[0]?.detail).toContain('listOrders')
    expect(checks.filter(({ status }) => status === 'fault')).toEqual([])
  })

  it('say what the token may not see, and do not fail because of it', async () => {
    const checks = await examine({
      '/v1/organizations/org_1/sender-domains': problem(403, 'permission_denied'),
      '/v1/webhooks': problem(404, 'not_found'),
    })
    const statuses = checks.map(({ check, status }) => [check, status])
    expect(statuses.slice(-2)).toEqual([
      ['sender domains', 'unknown'],
      ['webhooks', 'unknown'],
    ])
    expect(statuses.map(([, status]) => status)).not.toContain('fault')
  })

  it('ask for a login without a token, and for the network where nobody answers', async () => {
    expect(find(await examine({}, null), 'token')).toMatchObject([
      { status: 'fault', remedy: expect.stringContaining('ecm login') as unknown },
    ])
    const connection = { url: 'http://127.0.0.1:9', token: 'ecm_1', source: 'ECM_TOKEN', isDevelopment: true }
    expect(await checkService(connection)).toMatchObject({
      isReachable: false,
      checks: [{ check: 'address', status: 'fault', remedy: 'Run `npm start` in this folder.' }],
    })
  })
})
