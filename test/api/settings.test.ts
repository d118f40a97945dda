import { createExecutionContext, createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { app } from '../../src/app.ts'
import { checkStart, createStartReport } from '../../src/entry/start.ts'
import { callWith } from '../support/api.ts'

const production = {
  ...env,
  ENVIRONMENT: 'production',
  EMAIL_PROVIDER: 'resend',
  EMAIL_API_KEY: 'the-key-of-resend',
  SMS_PROVIDER: 'gatewayapi',
  SMS_API_KEY: 'the-key-of-gatewayapi',
  WALLET_VENDOR_A: '',
  WALLET_VENDOR_B: '',
}

let warned: ReturnType<typeof spy>
const spy = () => vi.spyOn(console, 'warn').mockImplementation(() => {})
beforeEach(() => {
  warned = spy()
  vi.spyOn(console, 'log').mockImplementation(() => {})
})
afterEach(() => void vi.restoreAllMocks())

const readLines = () => warned.mock.calls.map(([line]) => JSON.parse(String(line)))

async function open(bindings: object) {
  const withReport = createStartReport()
  const handle = withReport(app.fetch)
  const send = () =>
    handle(new Request('https://events.example.test/healthz'), bindings as never, createExecutionContext())
  return { withReport, send, response: await send() }
}

describe('a running Worker', () => {
  it('warns of each wrong setting once for an isolate, whatever its events are', async () => {
    const bindings = {
      ...production,
      OIDC_ISSUER: 'https://id.example',
      ALLOW_INSECURE_WEBHOOKS: '1',
      RATE_LIMIT_PER_MINUTE: 'many',
      EMAIL_APIKEY: 'a-misspelt-secret',
    }
    const { send, withReport, response } = await open(bindings)
    expect(response.status).toBe(200)
    await send()
    withReport(() => undefined)(createScheduledController(), bindings)
    expect(readLines()).toEqual(
      [
        ['RATE_LIMIT_PER_MINUTE', 'RATE_LIMIT_PER_MINUTE is "many". It must be a whole number from 0 to 999999999.'],
        ['OIDC_ISSUER', 'OIDC_AUDIENCE is not set. OIDC_ISSUER needs it. Set OIDC_AUDIENCE, or remove OIDC_ISSUER.'],
        ['ALLOW_INSECURE_WEBHOOKS', 'ALLOW_INSECURE_WEBHOOKS has no effect in production. Remove it.'],
        ['EMAIL_APIKEY', 'EMAIL_APIKEY is no setting. Did you mean EMAIL_API_KEY? Rename or remove it.'],
      ].map(([setting, message]) => ({ level: 'warn', request_id: 'start', message, setting })),
    )
  })

  it('says nothing of right settings, nor of other bindings', async () => {
    await open(production)
    await open({ ...production, CUSTOM: 'x', DATABASE_NAME: 'y' })
    expect(readLines()).toEqual([])
  })

  it('never logs the value of a secret', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const secrets = {
      ROOT_TOKEN: 'root token with spaces',
      METRICS_TOKEN_PREVIOUS: 'previous-metrics',
      WALLET_APPLE_CERTIFICATE: 'certificate-in-no-form',
      WALLET_GOOGLE_SERVICE_ACCOUNT: '{"private_key":"private"}',
      LINK_SIGNING_KEY: 'link-signing-key-for-development',
      LINK_SIGNING_KEY_OLD: 'the-key-before',
    }
    await open({ ...production, ...secrets })
    expect(new Set(readLines().map(({ setting }) => setting))).toEqual(new Set(Object.keys(secrets)))
    expect(() => checkStart({ ...production, LINK_SIGNING_KEY: 'a-key,with-a-comma' })).toThrow(/^LINK_SIGNING_KEY/)
    const text = JSON.stringify([warned.mock.calls, errors.mock.calls])
    for (const value of [...Object.values(secrets), 'a-key,with-a-comma', 'private"'])
      expect(text).not.toContain(JSON.stringify(value).slice(1, -1))
  })

  it('does not start with settings that it cannot use, and lists them all', () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const wrong = { ...env, EMAIL_PROVIDER: 'pigeon', CELL: 'K7', FILE_SCAN_URL: 'scanner' }
    const sentences = [
      'CELL is "K7". It must be two characters of a to z and 0 to 9.',
      'FILE_SCAN_URL is "scanner". It must be a URL such as https://scanner.example.com/scan.',
      'EMAIL_PROVIDER is "pigeon". It must be one of capture, resend, cloudflare.',
    ]
    expect(() => checkStart(wrong)).toThrow(new Error(sentences.join('\n')))
    expect(errors).toHaveBeenCalledTimes(1)
    expect(String(errors.mock.calls[0])).toContain('"request_id":"start"')
  })

  it('has the default limit, not none, when RATE_LIMIT_PER_MINUTE is no number', async () => {
    const policy = async (RATE_LIMIT_PER_MINUTE: string | number) =>
      (await callWith({ RATE_LIMIT_PER_MINUTE }, '/v1/auth/user-info')).headers.get('ratelimit-policy')
    expect(await policy('many')).toContain('"default";q=600;')
    expect(await policy('70')).toContain('"default";q=70;')
    expect(await policy(70)).toContain('"default";q=70;')
    expect(await policy('0')).toBeNull()
  })
})
