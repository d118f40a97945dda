import type { Config } from '../context.ts'
import { standardSchedule } from '../domain/webhooks.ts'
import type { Bindings } from '../http/env.ts'

const hostOf = (url: string): string[] => (URL.canParse(url) ? [new URL(url).hostname.toLowerCase()] : [])

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
    publicUrl: env.PUBLIC_URL.replace(/\/+$/, ''),
    linkSigningKey: env.LINK_SIGNING_KEY ?? '',
    email: {
      name: env.EMAIL_PROVIDER || 'capture',
      apiBase: env.EMAIL_API_BASE,
      apiKey: env.EMAIL_API_KEY ?? '',
      webhookSecret: env.EMAIL_WEBHOOK_SECRET ?? '',
    },
    sms: {
      name: env.SMS_PROVIDER || 'capture',
      apiBase: env.SMS_API_BASE,
      apiKey: env.SMS_API_KEY ?? '',
      webhookSecret: env.SMS_WEBHOOK_SECRET ?? '',
    },
    webhooks: {
      allowInsecure: env.ALLOW_INSECURE_WEBHOOKS === '1',
      ownHosts: hostOf(env.PUBLIC_URL),
      schedule: scheduleOf(env.WEBHOOK_RETRY_SCHEDULE),
    },
    oidc: env.OIDC_ISSUER && env.OIDC_AUDIENCE ? { issuer: env.OIDC_ISSUER, audience: env.OIDC_AUDIENCE } : null,
  }
}
