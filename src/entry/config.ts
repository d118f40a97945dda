import type { Config, WalletConfig } from '../context.ts'
import { type Mailbox, parseMailbox } from '../domain/messaging/mailbox.ts'
import { isCell } from '../domain/ids.ts'
import { retentionDays, dayMs } from '../domain/time/instants.ts'
import { isWebAddress } from '../domain/text/text.ts'
import { standardSchedule } from '../domain/webhooks/webhooks.ts'
import { type WalletPlatform, walletPlatforms } from '../domain/wallet/wallet.ts'
import type { Bindings } from '../http/env.ts'

const withoutSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, '')

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.toLowerCase() : '')

/** Whether the host is this machine. Another variable decides whether webhooks may go there. */
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
  if (text.trim() === '') return standardSchedule
  const parts = text.split(',').map((part) => part.trim())
  if (parts.every((part) => /^\d+(\.\d+)?$/.test(part))) return parts.map(Number)
  throw new Error(`WEBHOOK_RETRY_SCHEDULE is "${text}". It is seconds, separated by commas: 5,300,1800`)
}

/** The known providers of messages and of DNS. */
const providers = {
  EMAIL_PROVIDER: ['capture', 'resend', 'cloudflare'],
  SMS_PROVIDER: ['capture', 'gatewayapi'],
  DNS_PROVIDER: ['capture', 'https'],
  WALLET_PROVIDER: ['capture', 'live'],
} as const

export type ProviderName<Variable extends keyof typeof providers> = (typeof providers)[Variable][number]

function providerOf(variable: keyof typeof providers, given: string | undefined): string {
  const name = given || 'capture'
  if (providers[variable].some((known) => known === name)) return name
  throw new Error(`${variable} is "${name}". It is one of ${providers[variable].join(', ')}.`)
}

function vendorOf(variable: 'WALLET_VENDOR_A' | 'WALLET_VENDOR_B', given: string): WalletPlatform | null {
  const platform = walletPlatforms.find((known) => known === given)
  if (platform || !given) return platform ?? null
  throw new Error(`${variable} is "${given}". It is one of ${walletPlatforms.join(', ')}, or empty.`)
}

/** The variables that `live` needs for a platform. */
const walletNeeds: Record<WalletPlatform, readonly (keyof Bindings)[]> = {
  apple: [
    'WALLET_APPLE_PASS_TYPE_ID',
    'WALLET_APPLE_TEAM_ID',
    'WALLET_APPLE_CERTIFICATE',
    'WALLET_APPLE_PRIVATE_KEY',
    'WALLET_APPLE_ISSUER_CERTIFICATE',
  ],
  google: ['WALLET_GOOGLE_ISSUER_ID', 'WALLET_GOOGLE_SERVICE_ACCOUNT'],
}

function walletOf(env: Bindings): WalletConfig {
  const name = providerOf('WALLET_PROVIDER', env.WALLET_PROVIDER)
  const vendors = {
    vendorA: vendorOf('WALLET_VENDOR_A', env.WALLET_VENDOR_A),
    vendorB: vendorOf('WALLET_VENDOR_B', env.WALLET_VENDOR_B),
  }
  if (vendors.vendorA !== null && vendors.vendorA === vendors.vendorB)
    throw new Error(`WALLET_VENDOR_A and WALLET_VENDOR_B are both "${vendors.vendorA}". Each platform is one of them.`)
  const used = Object.values(vendors).filter((platform) => platform !== null)
  const missing = used.flatMap((platform) => walletNeeds[platform]).find((variable) => !env[variable])
  if (name === 'live' && missing) throw new Error(`${missing} is not set. WALLET_PROVIDER=live needs it.`)
  return {
    name,
    vendors,
    apple: {
      passTypeId: env.WALLET_APPLE_PASS_TYPE_ID || 'pass.capture',
      teamId: env.WALLET_APPLE_TEAM_ID || 'CAPTURE',
      certificate: env.WALLET_APPLE_CERTIFICATE ?? '',
      privateKey: env.WALLET_APPLE_PRIVATE_KEY ?? '',
      issuerCertificate: env.WALLET_APPLE_ISSUER_CERTIFICATE ?? '',
    },
    google: {
      issuerId: env.WALLET_GOOGLE_ISSUER_ID || 'capture',
      serviceAccount: env.WALLET_GOOGLE_SERVICE_ACCOUNT ?? '',
      apiBase: withoutSlash(env.WALLET_GOOGLE_API_BASE ?? ''),
    },
  }
}

/** Where the calls of merchant accounts go: their keys leave this machine over https only, in production. */
function paymentBaseOf(text: string, isLoopbackOpen: boolean): string {
  const base = withoutSlash(text)
  if (base === '' || (URL.canParse(base) && new URL(base).protocol === 'https:')) return base
  if (isLoopbackOpen && isThisMachine(hostOf(base)) && new URL(base).protocol === 'http:') return base
  throw new Error(
    `PAYMENT_API_BASE is "${text}". It begins with https://; other than that only this machine in development.`,
  )
}

function paymentsOf(env: Bindings, environment: Config['environment']): Config['payments'] {
  const isOpen = environment !== 'production'
  // A secret that signs links may change at any time, so it encrypts no stored secrets in production.
  const secret = env.MERCHANT_KEY_SECRET || (isOpen ? env.LINK_SIGNING_KEY : '')
  return {
    apiBase: paymentBaseOf(env.PAYMENT_API_BASE, isOpen),
    secrets: [secret, env.MERCHANT_KEY_SECRET_PREVIOUS].flatMap((one) => one || []),
  }
}

/** A host of their own, or the one that everything is served from. */
function filesUrlOf({ FILES_URL, PUBLIC_URL }: Bindings): string {
  if (!FILES_URL) return withoutSlash(PUBLIC_URL)
  const url = URL.canParse(FILES_URL) ? new URL(FILES_URL) : null
  const isPlain = url && /^https?:$/.test(url.protocol) && withoutSlash(FILES_URL) === url.origin
  if (isPlain && (!URL.canParse(PUBLIC_URL) || new URL(PUBLIC_URL).host !== url.host)) return url.origin
  throw new Error(
    `FILES_URL is "${FILES_URL}". It is like https://files.example.com: no path, and not the host of PUBLIC_URL.`,
  )
}

function scanOf({ FILE_SCAN_URL, FILE_SCAN_KEY, LINK_SIGNING_KEY }: Bindings): Config['files']['scan'] {
  if (!FILE_SCAN_URL) return null
  if (!isWebAddress(FILE_SCAN_URL))
    throw new Error(`FILE_SCAN_URL is "${FILE_SCAN_URL}". It is like https://scanner.example.com/scan.`)
  if (!LINK_SIGNING_KEY) throw new Error('LINK_SIGNING_KEY is not set. FILE_SCAN_URL needs it.')
  return { url: FILE_SCAN_URL, key: FILE_SCAN_KEY ?? '' }
}

function cellOf(env: Bindings): string {
  const cell = env.CELL || ''
  if (cell === '' || isCell(cell)) return cell
  throw new Error(`CELL is "${cell}". It is two characters of a to z and 0 to 9, or empty.`)
}

const mostKeptDays = 36_500

/** A whole number of days; empty for the default. */
function keptOf(variable: 'WEBHOOK_KEPT_DAYS' | 'AUDIT_KEPT_DAYS', given: string, byDefault: number): number {
  const days = given.trim() === '' ? byDefault : Number(given)
  if (/^\d*$/.test(given.trim()) && days >= 1 && days <= mostKeptDays) return days * dayMs
  throw new Error(`${variable} is "${given}". It is a whole number of days from 1 to ${mostKeptDays}, or empty.`)
}

function environmentOf(env: Bindings): Config['environment'] {
  const ofOurMachines = ['development', 'test'] as const
  return ofOurMachines.find((name) => name === env.ENVIRONMENT) ?? 'production'
}

function configOf(env: Bindings): Config {
  const environment = environmentOf(env)
  return {
    environment,
    rateLimitPerMinute: Number(env.RATE_LIMIT_PER_MINUTE) || 0,
    rootToken: env.ROOT_TOKEN ?? null,
    publicUrl: withoutSlash(env.PUBLIC_URL),
    linkSigningKey: env.LINK_SIGNING_KEY ?? '',
    idempotencySecret: env.IDEMPOTENCY_KEY || env.LINK_SIGNING_KEY || null,
    emailFrom: senderOf(env),
    email: {
      name: providerOf('EMAIL_PROVIDER', env.EMAIL_PROVIDER),
      apiBase: withoutSlash(env.EMAIL_API_BASE),
      apiKey: env.EMAIL_API_KEY ?? '',
      webhookSecret: env.EMAIL_WEBHOOK_SECRET ?? '',
    },
    sms: {
      name: providerOf('SMS_PROVIDER', env.SMS_PROVIDER),
      apiBase: withoutSlash(env.SMS_API_BASE),
      apiKey: env.SMS_API_KEY ?? '',
      webhookSecret: env.SMS_WEBHOOK_SECRET ?? '',
    },
    dns: { name: providerOf('DNS_PROVIDER', env.DNS_PROVIDER), apiBase: withoutSlash(env.DNS_API_BASE) },
    wallet: walletOf(env),
    payments: paymentsOf(env, environment),
    webhooks: {
      allowInsecure: env.ALLOW_INSECURE_WEBHOOKS === '1',
      ownHosts: [env.PUBLIC_URL, env.FILES_URL].map(hostOf).filter((host) => host && !isThisMachine(host)),
      schedule: scheduleOf(env.WEBHOOK_RETRY_SCHEDULE),
    },
    files: { url: filesUrlOf(env), scan: scanOf(env) },
    cell: cellOf(env),
    kept: {
      webhooks: keptOf('WEBHOOK_KEPT_DAYS', env.WEBHOOK_KEPT_DAYS || '', retentionDays.webhooks),
      auditLog: keptOf('AUDIT_KEPT_DAYS', env.AUDIT_KEPT_DAYS || '', retentionDays.auditLog),
    },
    oidc: env.OIDC_ISSUER && env.OIDC_AUDIENCE ? { issuer: env.OIDC_ISSUER, audience: env.OIDC_AUDIENCE } : null,
  }
}

const known = new WeakMap<Bindings, Config>()

/** The configuration of an isolate's bindings, which never change. Throws for a variable that cannot be read. */
export function readConfig(env: Bindings): Config {
  const config = known.get(env) ?? configOf(env)
  known.set(env, config)
  return config
}
