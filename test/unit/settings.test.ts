import * as fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkDeploySettings, checkServeSettings, checkStartSettings } from '../../scripts/support/settings.ts'
import { findFaults, findMisspeltNames } from '../../src/domain/settings/check.ts'
import { needs } from '../../src/domain/settings/rules.ts'
import {
  getSetting,
  readSetting,
  secretNames,
  settingNames,
  type SettingTexts,
} from '../../src/domain/settings/settings.ts'
import { readConfig } from '../../src/entry/config.ts'
import type { Bindings } from '../../src/http/env.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const describeFaults = (check: () => void): string[] => {
  try {
    check()
  } catch (error) {
    return (error as Error).message.split('\n')
  }
  return []
}

describe('the declaration of settings', () => {
  it('has the variables of wrangler.toml, with their defaults, and secrets beside them', () => {
    const [, section = ''] = read('wrangler.toml').split('\n[vars]\n')
    const variables = Object.fromEntries(
      [...section.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name = '', text = '']) => [name, text]),
    )
    const declared = settingNames.filter((name) => !getSetting(name).isSecret)
    expect(Object.keys(variables).toSorted()).toEqual([...declared].toSorted())
    for (const name of declared) {
      const text = variables[name] ?? ''
      if (text !== '') expect([name, text]).toEqual([name, getSetting(name).default])
    }
    expect(findFaults(variables)).toEqual([])
  })

  it('has defaults and values for development in the right form', () => {
    const texts = settingNames.flatMap((name) => {
      const { form, default: standard, development } = getSetting(name)
      return [standard, development].flatMap((text) =>
        text === undefined ? [] : [{ name, text, value: form.read(text) }],
      )
    })
    expect(texts.filter(({ value }) => value === null)).toEqual([])
    expect(texts.length).toBeGreaterThan(5)
  })

  it('says of every secret how it is replaced, on the page about that', () => {
    const page = read('docs/secrets.md')
    for (const name of secretNames) expect(page).toContain(`\`${name}\``)
    const names = [...page.matchAll(/`([A-Z]+_[A-Z_]+)`/g)].map(([, name]) => name)
    expect(names.filter((name) => !(secretNames as unknown[]).includes(name))).toEqual([])
  })
})

describe('the check of settings', () => {
  const production = { ENVIRONMENT: 'production', PUBLIC_URL: 'https://events.example.com' }
  const check = (texts: SettingTexts, installation = {}) =>
    findFaults({ ...production, ...texts }, installation).map(({ message }) => message)

  it.for(needs.map((need) => [`${need.setting} ${need.value ?? ''} ${need.needed}`, need] as const))(
    'finds what is missing: %s',
    ([, { setting, value, needed, isFatal = false }]) => {
      const samples: SettingTexts = {
        ALERT_WEBHOOK_URL: 'https://alerts.example.com/hook',
        ALERT_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        CF_ACCESS_TEAM_DOMAIN: 'acme.cloudflareaccess.com',
        FILE_SCAN_URL: 'https://scan.example',
        OIDC_ISSUER: 'https://id.example',
        PUBLIC_URL: 'https://events.example.com',
      }
      const text = value ?? samples[setting] ?? 'text'
      const find = (texts: SettingTexts) =>
        findFaults({ ENVIRONMENT: 'development', [setting]: text, ...texts }).filter(({ message }) =>
          message.startsWith(`${needed} is not set. `),
        )
      expect(find({})).toMatchObject([{ setting, isFatal }])
      expect(find({ [needed]: '  ' })).toHaveLength(1)
      expect(find({ [needed]: samples[needed] ?? 'text' })).toEqual([])
      expect(find({ [setting]: '' })).toEqual([])
    },
  )

  it.for([
    [{ EMAIL_PROVIDER: 'capture' }, /^EMAIL_PROVIDER is "capture".* Set EMAIL_PROVIDER to resend or cloudflare\.$/],
    [{ SMS_PROVIDER: 'capture' }, /^SMS_PROVIDER is "capture".* Set SMS_PROVIDER to gatewayapi\.$/],
    [{ DNS_PROVIDER: 'capture' }, /^DNS_PROVIDER is "capture".* Set DNS_PROVIDER to https\.$/],
    [{ ALLOW_INSECURE_WEBHOOKS: '1' }, /^ALLOW_INSECURE_WEBHOOKS has no effect in production\. Remove it\.$/],
    [{ ROOT_TOKEN: 'root-token-for-development' }, /^ROOT_TOKEN is the one of development/],
    [{ LINK_SIGNING_KEY: 'link-signing-key-for-development' }, /^LINK_SIGNING_KEY is the one of development/],
    [{ WALLET_PROVIDER: 'live' }, /^WALLET_PROVIDER=live makes no passes without a vendor/],
    [{ WALLET_VENDOR_B: 'google' }, /^WALLET_PROVIDER is "capture"/],
    [{ PAYMENT_API_BASE: 'http://127.0.0.1:1' }, /^PAYMENT_API_BASE is "http:/],
    [{ FILES_URL: 'https://events.example.com' }, /^FILES_URL has the same host as PUBLIC_URL/],
  ] as const)('finds a contradiction in production: %o', ([texts, message]) => {
    expect(check(texts)).toEqual([expect.stringMatching(message)])
    const elsewhere = check({ ...texts, ENVIRONMENT: 'development' })
    if (!('FILES_URL' in texts) && !('WALLET_PROVIDER' in texts)) expect(elsewhere).toEqual([])
  })

  it('compares with the installation only what is known of it', () => {
    expect(check({ RATE_LIMIT_PER_MINUTE: '60' }, { tokenLimit: 600 })).toEqual([
      expect.stringMatching(/^RATE_LIMIT_PER_MINUTE is 60, and the limit of RATE_LIMITER in wrangler\.toml is 600\. /),
    ])
    for (const [limit, tokenLimit] of [
      ['60', 60],
      ['', 600],
      ['0', 600],
      ['60', undefined],
    ])
      expect(check({ RATE_LIMIT_PER_MINUTE: limit }, tokenLimit === undefined ? {} : { tokenLimit })).toEqual([])
    const cloudflare = { EMAIL_PROVIDER: 'cloudflare' }
    expect(check(cloudflare)).toEqual([])
    expect(check(cloudflare, { hasEmailBinding: true })).toEqual([])
    expect(check(cloudflare, { hasEmailBinding: false })).toEqual([expect.stringContaining('named EMAIL')])
  })

  it('lists everything that live passes need, once', () => {
    const vendors = { WALLET_PROVIDER: 'live', WALLET_VENDOR_A: 'apple', WALLET_VENDOR_B: 'google' }
    expect(check(vendors).map((message) => message.split(' ', 1)[0])).toEqual([
      'WALLET_APPLE_PASS_TYPE_ID',
      'WALLET_APPLE_TEAM_ID',
      'WALLET_APPLE_CERTIFICATE',
      'WALLET_APPLE_PRIVATE_KEY',
      'WALLET_APPLE_ISSUER_CERTIFICATE',
      'WALLET_GOOGLE_ISSUER_ID',
      'WALLET_GOOGLE_SERVICE_ACCOUNT',
    ])
  })

  it('finds a fault of each setting once, however many rules it has', () => {
    expect(check({ OIDC_ISSUER: 'id.example', OIDC_AUDIENCE: 'api', PAYMENT_API_BASE: 'stripe' })).toEqual([
      expect.stringMatching(/^OIDC_ISSUER is "id\.example"/),
      expect.stringMatching(/^PAYMENT_API_BASE is "stripe"/),
    ])
  })

  it('shows at most a hundred characters of a value, in one line', () => {
    const [message = ''] = check({ EMAIL_PROVIDER: `a\n\u001b[31m${'b'.repeat(5000)}` })
    expect(message).toMatch(
      /^EMAIL_PROVIDER is "a\\n\\u001b\[31mb+…"\. It must be one of capture, resend, cloudflare\.$/,
    )
    expect(message.length).toBeLessThan(250)
  })

  const texts = fc.record(
    Object.fromEntries(
      settingNames.map((name) => [
        name,
        fc.oneof(
          { weight: 3, arbitrary: fc.constant('') },
          fc.constantFrom(
            ...'1 0 60 live capture resend cloudflare gatewayapi https apple google production development code,oidc access k7'.split(
              ' ',
            ),
            'https://a.example',
            'http://127.0.0.1:1',
            ' ',
          ),
          fc.string().map((text) => `secret-${name}-${text}-secret`),
        ),
      ]),
    ),
    { requiredKeys: [] },
  )

  it('agrees with the Worker about what it cannot start with, and shows no secret', () => {
    fc.assert(
      fc.property(texts, (env: SettingTexts) => {
        const faults = findFaults(env, { tokenLimit: 600, hasEmailBinding: false })
        const hasFatal = faults.some(({ isFatal }) => isFatal)
        const start = () => readConfig({ ...env } as Bindings)
        if (hasFatal) expect(start).toThrow(/\.$/)
        else expect(start()).toMatchObject({ publicUrl: expect.any(String) })
        for (const { message } of faults) {
          expect(message).toMatch(/\.$/)
          for (const name of secretNames)
            if (/^secret-.*-secret$/s.test(String(env[name]))) expect(message).not.toContain(env[name])
        }
      }),
    )
  })

  it('reads a setting alone as the Worker does', () => {
    expect(readSetting({}, 'ENVIRONMENT')).toBe('production')
    expect(readSetting({ ENVIRONMENT: 'staging' }, 'ENVIRONMENT')).toBe('production')
    expect(readSetting({ WEBHOOK_KEPT_DAYS: 30 }, 'WEBHOOK_KEPT_DAYS')).toBe(30)
    expect(() => readSetting({ WEBHOOK_KEPT_DAYS: 'x' }, 'WEBHOOK_KEPT_DAYS')).toThrow(/^WEBHOOK_KEPT_DAYS is "x"/)
  })
})

describe('names that are no settings', () => {
  const find = (name: string) => findMisspeltNames([name]).map(({ message }) => message)

  it.each([
    ['EMAIL_APIKEY', 'EMAIL_API_KEY'],
    ['EMIAL_PROVIDER', 'EMAIL_PROVIDER'],
    ['email_provider', 'EMAIL_PROVIDER'],
    ['EMAIL-FROM', 'EMAIL_FROM'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['LINK_SIGNING_KEYS', 'LINK_SIGNING_KEY'],
    ['LINK_SIGNING_KEY_OLD', 'LINK_SIGNING_KEY'],
    ['ROOT_TOKEN_PREVIUOS', 'ROOT_TOKEN_PREVIOUS'],
    ['WALLET_APPLE_CERT', 'WALLET_APPLE_CERTIFICATE'],
    ['CF_ACCESS_AUD', 'CF_ACCESS_AUDIENCE'],
    ['OIDC_ISSUER_URL', 'OIDC_ISSUER'],
    ['SIGNIN_METHODS', 'SIGN_IN_METHODS'],
    ['RATE_LIMIT_PER_MINUTES', 'RATE_LIMIT_PER_MINUTE'],
  ])('%s is a misspelt %s', (name, setting) => {
    expect(find(name)).toEqual([`${name} is no setting. Did you mean ${setting}? Rename or remove it.`])
  })

  it('are left alone when they are of other programs', () => {
    const names = `HOME PATH SHELL LANG TERM PWD USER LOGNAME EDITOR TMPDIR DISPLAY CI PORT SSH_AUTH_SOCK
      XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS LS_COLORS NODE_ENV NODE_OPTIONS npm_lifecycle_event
      npm_config_registry npm_package_name INIT_CWD STATE_DIRECTORY LINK CELLS EMAIL EMAIL_HOST EMAIL_PORT
      EMAIL_HOST_PASSWORD EMAIL_USE_TLS MAIL_FROM MAIL_FROM_ADDRESS SMTP_HOST SMS_TOKEN DNS_SERVER
      WEBHOOK_URL WEBHOOK_SECRET FILES_DIR PUBLIC_DIR METRICS_PORT CF_ACCESS_CLIENT_ID
      CF_ACCESS_CLIENT_SECRET CLOUDFLARE_API_TOKEN CLOUDFLARE_ACCOUNT_ID CF_API_TOKEN OIDC_CLIENT_SECRET
      ACTIONS_ID_TOKEN_REQUEST_URL GITHUB_TOKEN ROOT_PASSWORD ENVIRONMENT_NAME ENV ENVIRON RATE_LIMIT
      GOOGLE_APPLICATION_CREDENTIALS AWS_ACCESS_KEY_ID STRIPE_API_KEY CELL_ID constructor __proto__
      toString _`.split(/\s+/)
    expect(names.length).toBeGreaterThan(60)
    expect(findMisspeltNames([...names, '', 'X'.repeat(100_000)])).toEqual([])
    expect(findMisspeltNames(settingNames)).toEqual([])
  })
})

describe('the settings of npm start', () => {
  it.for([
    [{ PORT: '70000' }, 'PORT is "70000". It must be a whole number from 0 to 65535.'],
    [{ SEED: 'no' }, 'SEED is "no". It must be 0 or 1.'],
    [
      { RATE_LIMIT_PER_MINUTE: 'many' },
      'RATE_LIMIT_PER_MINUTE is "many". It must be a whole number from 0 to 999999999.',
    ],
    [{ SMS_PROVIDER: 'toString' }, 'SMS_PROVIDER is "toString". It must be one of capture, gatewayapi.'],
    [{ DNS_PROVIDER: 'dig' }, 'DNS_PROVIDER is "dig". It must be one of capture, https.'],
    [
      { EMAIL_PROVIDER: 'resend', EMAIL_API_KEY: '' },
      'EMAIL_API_KEY is not set. EMAIL_PROVIDER=resend needs it. Set EMAIL_API_KEY, or change EMAIL_PROVIDER.',
    ],
    [
      { SMS_PROVIDER: 'gatewayapi', SMS_API_KEY: '' },
      'SMS_API_KEY is not set. SMS_PROVIDER=gatewayapi needs it. Set SMS_API_KEY, or change SMS_PROVIDER.',
    ],
    [
      { WEBHOOK_RETRY_SCHEDULE: '5,,300' },
      'WEBHOOK_RETRY_SCHEDULE is "5,,300". It must be a list of seconds, for example 5,300,1800.',
    ],
    [{ ALLOW_INSECURE_WEBHOOKS: 'yes' }, 'ALLOW_INSECURE_WEBHOOKS is "yes". It must be 0 or 1.'],
    [
      { PUBLIC_URL: 'events.example' },
      'PUBLIC_URL is "events.example". It must be a URL such as https://events.example.com.',
    ],
    [{ EMAIL_API_BASE: 'ftp://x' }, 'EMAIL_API_BASE is "ftp://x". It must be a URL such as https://api.example.com.'],
    [
      { OIDC_ISSUER: 'https://id.example' },
      'OIDC_AUDIENCE is not set. OIDC_ISSUER needs it. Set OIDC_AUDIENCE, or remove OIDC_ISSUER.',
    ],
    [{ INSPECTOR_PROT: '9229' }, 'INSPECTOR_PROT is no setting. Did you mean INSPECTOR_PORT? Rename or remove it.'],
  ] as const)('are refused with a sentence: %o', ([env, line]) => {
    expect(describeFaults(() => checkStartSettings(env))).toEqual([line])
  })

  it.each([
    {},
    { ENVIRONMENT: 'development' },
    { PORT: '', EMAIL_PROVIDER: '', WEBHOOK_RETRY_SCHEDULE: ' ', EMAIL_FROM: '' },
    { PORT: '0', SEED: '0', WEBHOOK_RETRY_SCHEDULE: '1, 2.5,3', EMAIL_FROM: 'Events <no-reply@example.com>' },
    { EMAIL_PROVIDER: 'resend', EMAIL_API_KEY: 're_1', PUBLIC_URL: 'https://events.example.com' },
    { ALLOW_INSECURE_WEBHOOKS: '1', PAYMENT_API_BASE: 'http://127.0.0.1:1', DNS_PROVIDER: 'capture' },
  ])('are accepted when they are valid or empty: %o', (env) => {
    expect(describeFaults(() => checkStartSettings(env))).toEqual([])
  })
})

const ownSecrets = { ROOT_TOKEN: 'r', LINK_SIGNING_KEY: 'l', IDEMPOTENCY_KEY: 'i', MERCHANT_KEY_SECRET: 'm' }
const serving = { ...ownSecrets, STATE_DIR: '/var/lib/event-commerce' }

describe('the settings of a server in production', () => {
  it('lack no secret of its own, and nothing of development', () => {
    expect(describeFaults(() => checkServeSettings(serving))).toEqual([])
    expect(describeFaults(() => checkServeSettings({ ...serving, HOTS: 'x', STATE_DIRS: 'y' }))).toEqual([
      'STATE_DIRS is no setting. Did you mean STATE_DIR? Rename or remove it.',
    ])
    expect(describeFaults(() => checkServeSettings({ ...ownSecrets, PORT: '80a', TRUSTED_PROXIES: '-1' }))).toEqual([
      'STATE_DIR is not set. Set the folder for the database and the files, such as /var/lib/event-commerce.',
      'PORT is "80a". It must be a whole number from 0 to 65535.',
      'TRUSTED_PROXIES is "-1". It must be a whole number from 0 to 10.',
    ])
    expect(
      describeFaults(() =>
        checkServeSettings({
          ...serving,
          ENVIRONMENT: 'development',
          ROOT_TOKEN: ' ',
          ALLOW_INSECURE_WEBHOOKS: '1',
        }),
      ),
    ).toEqual([
      'ENVIRONMENT is "development". A server for others always runs in production. Remove ENVIRONMENT.',
      'ROOT_TOKEN is not set. Set a long random text, such as openssl rand -hex 32 prints.',
      'ALLOW_INSECURE_WEBHOOKS has no effect in production. Remove it.',
    ])
  })
})

describe('the settings of a deployment', () => {
  const deployment = {
    variables: { ENVIRONMENT: 'production', PUBLIC_URL: 'https://events.example.com', RATE_LIMIT_PER_MINUTE: 600 },
    secrets: Object.keys(ownSecrets),
    tokenLimit: 600,
    hasEmailBinding: false,
  }

  it('are accepted when secrets are uploaded that the variables need', () => {
    const variables = {
      ...deployment.variables,
      EMAIL_PROVIDER: 'resend',
      WALLET_PROVIDER: 'live',
      WALLET_VENDOR_A: 'google',
      WALLET_GOOGLE_ISSUER_ID: '338',
    }
    const secrets = [...deployment.secrets, 'EMAIL_API_KEY', 'WALLET_GOOGLE_SERVICE_ACCOUNT', 'OF_ANOTHER_TEAM']
    expect(describeFaults(() => checkDeploySettings({ ...deployment, variables, secrets }))).toEqual([])
  })

  it('are refused with all their faults', () => {
    const variables = {
      ...deployment.variables,
      ENVIRONMENT: 'development',
      EMAIL_PROVIDER: 'resend',
      ROOT_TOKEN: 'in-a-file-that-is-committed',
      RATE_LIMIT_PER_MINUTE: '60',
    }
    const secrets = ['SMS_APIKEY']
    expect(describeFaults(() => checkDeploySettings({ ...deployment, variables, secrets }))).toEqual([
      'ENVIRONMENT is "development". A deployed service runs in production. Set it in wrangler.toml.',
      'ROOT_TOKEN is a secret. Remove it from wrangler.toml, and run: npx wrangler secret put ROOT_TOKEN',
      'EMAIL_API_KEY is not set. EMAIL_PROVIDER=resend needs it. Set EMAIL_API_KEY, or change EMAIL_PROVIDER.',
      'RATE_LIMIT_PER_MINUTE is 60, and the limit of RATE_LIMITER in wrangler.toml is 600. Set both to the same number, and that of MEMBER_RATE_LIMITER to twice as much.',
      'SMS_APIKEY is no setting. Did you mean SMS_API_KEY? Rename or remove it.',
    ])
  })
})
