import { readConfig } from '../../src/entry/config.ts'
import type { Bindings } from '../../src/http/env.ts'
import { type Variables, variables } from './worker-config.ts'

type Settings = Variables & Partial<Record<'ENVIRONMENT' | 'PORT' | 'SEED', string | undefined>>

const createSettingError = (name: string, value: string, wanted: string) =>
  new Error(`${name} is "${value}". ${wanted}`)

const forms: [names: (keyof Settings)[], isRight: (value: string) => boolean, wanted: string][] = [
  [['PORT'], (value) => /^\d{1,5}$/.test(value) && Number(value) < 65_536, 'It is a whole number from 0 to 65535.'],
  [['RATE_LIMIT_PER_MINUTE'], (value) => /^(0|[1-9]\d{0,8})$/.test(value), 'It is a whole number, 0 for no limit.'],
  [['SEED', 'ALLOW_INSECURE_WEBHOOKS'], (value) => ['0', '1'].includes(value), 'It is 0 or 1.'],
  [
    [
      'PUBLIC_URL',
      'EMAIL_API_BASE',
      'SMS_API_BASE',
      'DNS_API_BASE',
      'WALLET_GOOGLE_API_BASE',
      'PAYMENT_API_BASE',
      'OIDC_ISSUER',
    ],
    (value) => /^https?:\/\//.test(value) && URL.canParse(value),
    'It looks like: https://events.example.com',
  ],
]

/** Variables that have no effect without another variable. */
const needs: [isSet: (env: Settings) => boolean, reason: string, needed: keyof Settings][] = [
  [(env) => env.EMAIL_PROVIDER === 'resend', 'EMAIL_PROVIDER=resend', 'EMAIL_API_KEY'],
  [(env) => env.SMS_PROVIDER === 'gatewayapi', 'SMS_PROVIDER=gatewayapi', 'SMS_API_KEY'],
  [(env) => !!env.OIDC_ISSUER, 'OIDC_ISSUER', 'OIDC_AUDIENCE'],
  [(env) => !!env.OIDC_AUDIENCE, 'OIDC_AUDIENCE', 'OIDC_ISSUER'],
]

/** Throws one line about the first variable that is wrong. An empty one counts as not set. */
export function checkSettings(env: Settings): void {
  if (env.ENVIRONMENT && env.ENVIRONMENT !== 'development')
    throw createSettingError(
      'ENVIRONMENT',
      env.ENVIRONMENT,
      '`npm start` always runs in development, with demonstration data and an open mailbox. docs/deploying.md says how to deploy the service.',
    )
  for (const [names, isRight, wanted] of forms)
    for (const name of names) {
      const value = env[name]
      if (value && !isRight(value)) throw createSettingError(name, value, wanted)
    }
  const values = Object.fromEntries(variables.map((name) => [name, env[name] ?? '']))
  // The server has its own key for links when none is set.
  const added = { ENVIRONMENT: 'development', LINK_SIGNING_KEY: env.LINK_SIGNING_KEY || 'development' }
  readConfig({ ...values, ...added } as unknown as Bindings)
  for (const [isSet, reason, needed] of needs)
    if (isSet(env) && !env[needed]) throw new Error(`${needed} is not set. ${reason} needs it.`)
}
