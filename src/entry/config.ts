import type { Config } from '../context.ts'
import { type Mailbox, parseMailbox } from '../domain/mailbox.ts'
import { standardSchedule } from '../domain/webhooks.ts'
import type { Bindings } from '../http/env.ts'

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.toLowerCase() : '')

/** A machine that serves itself has its receivers beside it: whether those may be called is another variable's say. */
const isThisMachine = (host: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(host)

function senderOf(env: Bindings): Mailbox {
  const given = parseMailbox(env.EMAIL_FROM)
  if (env.EMAIL_FROM && !given)
    throw new Error(`EMAIL_FROM is "${env.EMAIL_FROM}". It looks like: Events <no-reply@example.com>`)
  const host = hostOf(env.PUBLIC_URL)
  return (
    given ?? {
      name: 'Events',
      address: `no-reply@${host.includes('.') && !isThisMachine(host) ? host : 'example.com'}`,
    }
  )
}

function scheduleOf(text: string): readonly number[] {
  const seconds = text.split(',').map((part) => Number(part.trim()))
  return text.trim() !== '' && seconds.every((value) => Number.isFinite(value) && value >= 0)
    ? seconds
    : standardSchedule
}

export function readConfig(env: Bindings): Config {
  const environment = env.ENVIRONMENT as Config['environment']
  return {
    environment: ['development', 'test'].includes(environment) ? environment : 'production',
    rateLimitPerMinute: Number(env.RATE_LIMIT_PER_MINUTE) || 0,
    rootToken: env.ROOT_TOKEN ?? null,
    publicUrl: withoutSlash(env.PUBLIC_URL),
    linkSigningKey: env.LINK_SIGNING_KEY ?? '',
    idempotencySecret: env.IDEMPOTENCY_KEY || env.LINK_SIGNING_KEY || null,
    emailFrom: senderOf(env),
    email: {
      name: env.EMAIL_PROVIDER || 'capture',
      apiBase: withoutSlash(env.EMAIL_API_BASE),
      apiKey: env.EMAIL_API_KEY ?? '',
      webhookSecret: env.EMAIL_WEBHOOK_SECRET ?? '',
    },
    sms: {
      name: env.SMS_PROVIDER || 'capture',
      apiBase: withoutSlash(env.SMS_API_BASE),
      apiKey: env.SMS_API_KEY ?? '',
      webhookSecret: env.SMS_WEBHOOK_SECRET ?? '',
    },
    dns: { name: env.DNS_PROVIDER || 'capture', apiBase: withoutSlash(env.DNS_API_BASE) },
    webhooks: {
      allowInsecure: env.ALLOW_INSECURE_WEBHOOKS === '1',
      ownHosts: [hostOf(env.PUBLIC_URL)].filter((host) => host && !isThisMachine(host)),
      schedule: scheduleOf(env.WEBHOOK_RETRY_SCHEDULE),
    },
    oidc: env.OIDC_ISSUER && env.OIDC_AUDIENCE ? { issuer: env.OIDC_ISSUER, audience: env.OIDC_AUDIENCE } : null,
  }
}
