import type { Config, WalletConfig } from '../context.ts'
import { isCell } from '../domain/ids.ts'
import { type Mailbox, parseMailbox } from '../domain/messaging/mailbox.ts'
import { noProvider } from '../domain/messaging/messaging.ts'
import { isWebAddress } from '../domain/text/text.ts'
import { retentionDays, dayMs } from '../domain/time/instants.ts'
import { type WalletPlatform, walletPlatforms } from '../domain/wallet/wallet.ts'
import { standardSchedule } from '../domain/webhooks/webhooks.ts'
import type { Bindings } from '../http/env.ts'
import { readSignIn } from './sign-in-config.ts'

const trimSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, '')

const getHost = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.toLowerCase() : '')

const isThisMachine = (host: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(host)

function readSender(env: Bindings): Mailbox {
  const sender = parseMailbox(env.EMAIL_FROM)
  if (env.EMAIL_FROM && !sender)
    throw new Error(`EMAIL_FROM is "${env.EMAIL_FROM}". It must look like "Events <no-reply@example.com>".`)
  const host = getHost(env.PUBLIC_URL)
  return (
    sender ?? {
      name: 'Events',
      address: `no-reply@${host.includes('.') && !isThisMachine(host) ? host : 'example.com'}`,
    }
  )
}

function readSchedule(text: string): readonly number[] {
  if (text.trim() === '') return standardSchedule
  const parts = text.split(',').map((part) => part.trim())
  if (parts.every((part) => /^\d+(\.\d+)?$/.test(part))) return parts.map(Number)
  throw new Error(`WEBHOOK_RETRY_SCHEDULE is "${text}". It must be a list of seconds, for example 5,300,1800.`)
}

/** The providers that each variable can name. */
const providers = {
  EMAIL_PROVIDER: ['capture', 'resend', 'cloudflare'],
  SMS_PROVIDER: ['capture', 'gatewayapi'],
  DNS_PROVIDER: ['capture', 'https'],
  WALLET_PROVIDER: ['capture', 'live'],
} as const

export type ProviderName<Variable extends keyof typeof providers> = (typeof providers)[Variable][number]

function readProvider(variable: keyof typeof providers, value: string | undefined): string {
  const name = value || 'capture'
  if (providers[variable].some((provider) => provider === name)) return name
  throw new Error(`${variable} is "${name}". It must be one of ${providers[variable].join(', ')}.`)
}

/** Nothing is captured in production, because nobody would see that messages are not sent. */
function readMessageProvider(variable: 'EMAIL_PROVIDER' | 'SMS_PROVIDER', env: Bindings): string {
  const name = readProvider(variable, env[variable])
  return name === 'capture' && readEnvironment(env) === 'production' ? noProvider : name
}

function readVendor(variable: 'WALLET_VENDOR_A' | 'WALLET_VENDOR_B', value: string): WalletPlatform | null {
  const platform = walletPlatforms.find((name) => name === value)
  if (platform || !value) return platform ?? null
  throw new Error(`${variable} is "${value}". It must be empty or one of ${walletPlatforms.join(', ')}.`)
}

/** The variables that WALLET_PROVIDER=live requires for each platform. */
const requiredWalletVariables: Record<WalletPlatform, readonly (keyof Bindings)[]> = {
  apple: [
    'WALLET_APPLE_PASS_TYPE_ID',
    'WALLET_APPLE_TEAM_ID',
    'WALLET_APPLE_CERTIFICATE',
    'WALLET_APPLE_PRIVATE_KEY',
    'WALLET_APPLE_ISSUER_CERTIFICATE',
  ],
  google: ['WALLET_GOOGLE_ISSUER_ID', 'WALLET_GOOGLE_SERVICE_ACCOUNT'],
}

function readWallet(env: Bindings): WalletConfig {
  const name = readProvider('WALLET_PROVIDER', env.WALLET_PROVIDER)
  const vendors = {
    vendorA: readVendor('WALLET_VENDOR_A', env.WALLET_VENDOR_A),
    vendorB: readVendor('WALLET_VENDOR_B', env.WALLET_VENDOR_B),
  }
  if (vendors.vendorA !== null && vendors.vendorA === vendors.vendorB)
    throw new Error(
      `WALLET_VENDOR_A and WALLET_VENDOR_B are both "${vendors.vendorA}". Each platform can be only one of them.`,
    )
  const platforms = Object.values(vendors).filter((platform) => platform !== null)
  const missingVariable = platforms
    .flatMap((platform) => requiredWalletVariables[platform])
    .find((variable) => !env[variable])
  if (name === 'live' && missingVariable)
    throw new Error(`${missingVariable} is not set. WALLET_PROVIDER=live requires it.`)
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
      apiBase: trimSlash(env.WALLET_GOOGLE_API_BASE ?? ''),
    },
  }
}

/** The URL of the payment API. It must use https, except on this machine in development. */
function readPaymentBase(text: string, isDevelopment: boolean): string {
  const base = trimSlash(text)
  if (base === '' || (URL.canParse(base) && new URL(base).protocol === 'https:')) return base
  if (isDevelopment && isThisMachine(getHost(base)) && new URL(base).protocol === 'http:') return base
  throw new Error(`PAYMENT_API_BASE is "${text}". It must begin with https://, or name this machine in development.`)
}

function readPayments(env: Bindings, environment: Config['environment']): Config['payments'] {
  const isDevelopment = environment !== 'production'
  // LINK_SIGNING_KEY can change at any time, so in production it must not encrypt stored secrets.
  const secret = env.MERCHANT_KEY_SECRET || (isDevelopment ? env.LINK_SIGNING_KEY : '')
  return {
    apiBase: readPaymentBase(env.PAYMENT_API_BASE, isDevelopment),
    secrets: [secret, env.MERCHANT_KEY_SECRET_PREVIOUS].flatMap((text) => text || []),
  }
}

/** The key that signs links, and the earlier ones that read them. */
function readLinkKeys({
  LINK_SIGNING_KEY: key = '',
  LINK_SIGNING_KEY_PREVIOUS: previousKeys = '',
}: Bindings): string[] {
  // Otherwise each part of it would become a key as soon as it is a previous one.
  if (key.includes(',')) throw new Error('LINK_SIGNING_KEY contains a comma, which separates previous keys.')
  return [key, ...previousKeys.split(',')].map((text) => text.trim()).filter((text) => text !== '')
}

/** Links and headers that begin with this URL are ASCII. */
const readPublicUrl = ({ PUBLIC_URL }: Bindings): string =>
  trimSlash(URL.canParse(PUBLIC_URL) ? new URL(PUBLIC_URL).href : PUBLIC_URL)

/** The URL of files: a separate host, or PUBLIC_URL. */
function readFilesUrl(env: Bindings): string {
  const { FILES_URL, PUBLIC_URL } = env
  if (!FILES_URL) return readPublicUrl(env)
  const url = URL.canParse(FILES_URL) ? new URL(FILES_URL) : null
  const isOrigin = url && /^https?:$/.test(url.protocol) && trimSlash(FILES_URL) === url.origin
  if (isOrigin && (!URL.canParse(PUBLIC_URL) || new URL(PUBLIC_URL).host !== url.host)) return url.origin
  throw new Error(
    `FILES_URL is "${FILES_URL}". It must look like https://files.example.com, without a path and with another host than PUBLIC_URL.`,
  )
}

function readScan({ FILE_SCAN_URL, FILE_SCAN_KEY, LINK_SIGNING_KEY }: Bindings): Config['files']['scan'] {
  if (!FILE_SCAN_URL) return null
  if (!isWebAddress(FILE_SCAN_URL))
    throw new Error(`FILE_SCAN_URL is "${FILE_SCAN_URL}". It must look like https://scanner.example.com/scan.`)
  if (!LINK_SIGNING_KEY) throw new Error('LINK_SIGNING_KEY is not set. FILE_SCAN_URL requires it.')
  return { url: FILE_SCAN_URL, key: FILE_SCAN_KEY ?? '' }
}

function readCell(env: Bindings): string {
  const cell = env.CELL || ''
  if (cell === '' || isCell(cell)) return cell
  throw new Error(`CELL is "${cell}". It must be empty or two characters of a to z and 0 to 9.`)
}

const maxRetentionDays = 36_500

/** Reads a whole number of days. Empty: the default. */
function readRetention(variable: 'WEBHOOK_KEPT_DAYS' | 'AUDIT_KEPT_DAYS', value: string, defaultDays: number): number {
  const days = value.trim() === '' ? defaultDays : Number(value)
  if (/^\d*$/.test(value.trim()) && days >= 1 && days <= maxRetentionDays) return days * dayMs
  throw new Error(
    `${variable} is "${value}". It must be empty or a whole number of days from 1 to ${maxRetentionDays}.`,
  )
}

function readEnvironment(env: Bindings): Config['environment'] {
  const otherEnvironments = ['development', 'test'] as const
  return otherEnvironments.find((name) => name === env.ENVIRONMENT) ?? 'production'
}

function buildConfig(env: Bindings): Config {
  const environment = readEnvironment(env)
  const linkReadingKeys = readLinkKeys(env)
  const linkSigningKey = env.LINK_SIGNING_KEY ?? ''
  const email = {
    name: readMessageProvider('EMAIL_PROVIDER', env),
    apiBase: trimSlash(env.EMAIL_API_BASE),
    apiKey: env.EMAIL_API_KEY ?? '',
    webhookSecret: env.EMAIL_WEBHOOK_SECRET ?? '',
  }
  const oidc = env.OIDC_ISSUER && env.OIDC_AUDIENCE ? { issuer: env.OIDC_ISSUER, audience: env.OIDC_AUDIENCE } : null
  return {
    environment,
    rateLimitPerMinute: Number(env.RATE_LIMIT_PER_MINUTE) || 0,
    rootToken: env.ROOT_TOKEN ?? null,
    metricsTokens: env.METRICS_TOKEN
      ? [env.METRICS_TOKEN, env.METRICS_TOKEN_PREVIOUS].flatMap((text) => text || [])
      : [],
    publicUrl: readPublicUrl(env),
    linkSigningKey,
    linkReadingKeys,
    idempotencySecrets: [...(env.IDEMPOTENCY_KEY ? [env.IDEMPOTENCY_KEY] : []), ...linkReadingKeys],
    emailFrom: readSender(env),
    email,
    sms: {
      name: readMessageProvider('SMS_PROVIDER', env),
      apiBase: trimSlash(env.SMS_API_BASE),
      apiKey: env.SMS_API_KEY ?? '',
      webhookSecret: env.SMS_WEBHOOK_SECRET ?? '',
    },
    dns: { name: readProvider('DNS_PROVIDER', env.DNS_PROVIDER), apiBase: trimSlash(env.DNS_API_BASE) },
    wallet: readWallet(env),
    payments: readPayments(env, environment),
    webhooks: {
      allowInsecure: env.ALLOW_INSECURE_WEBHOOKS === '1',
      ownHosts: [env.PUBLIC_URL, env.FILES_URL].map(getHost).filter((host) => host && !isThisMachine(host)),
      schedule: readSchedule(env.WEBHOOK_RETRY_SCHEDULE),
    },
    files: { url: readFilesUrl(env), scan: readScan(env) },
    cell: readCell(env),
    retentionMs: {
      webhooks: readRetention('WEBHOOK_KEPT_DAYS', env.WEBHOOK_KEPT_DAYS || '', retentionDays.webhooks),
      auditLog: readRetention('AUDIT_KEPT_DAYS', env.AUDIT_KEPT_DAYS || '', retentionDays.auditLog),
    },
    oidc,
    signIn: readSignIn(env, { oidc, email, linkSigningKey }),
  }
}

const configs = new WeakMap<Bindings, Config>()

/** The configuration of an isolate, which never changes. Throws if a variable is invalid. */
export function readConfig(env: Bindings): Config {
  const config = configs.get(env) ?? buildConfig(env)
  configs.set(env, config)
  return config
}
