import type { Config, WalletConfig } from '../context.ts'
import { type SignInMethod, signInMethods } from '../domain/accounts/sign-in.ts'
import type { Mailbox } from '../domain/messaging/mailbox.ts'
import { noProvider } from '../domain/messaging/messaging.ts'
import { findFaults } from '../domain/settings/check.ts'
import { readSetting, readText } from '../domain/settings/settings.ts'
import { dayMs } from '../domain/time/instants.ts'
import type { Bindings } from '../http/env.ts'

const getHost = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.toLowerCase() : '')

const isThisMachine = (host: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(host)

const readPublicUrl = (env: Bindings): string => readSetting(env, 'PUBLIC_URL') ?? ''

function readSender(env: Bindings): Mailbox {
  const host = getHost(readPublicUrl(env))
  return (
    readSetting(env, 'EMAIL_FROM') ?? {
      name: 'Events',
      address: `no-reply@${host.includes('.') && !isThisMachine(host) ? host : 'example.com'}`,
    }
  )
}

/** Nothing is captured in production, because nobody would see that messages are not sent. */
function readMessageProvider(env: Bindings, name: 'EMAIL_PROVIDER' | 'SMS_PROVIDER'): string {
  const provider = readSetting(env, name) ?? 'capture'
  return provider === 'capture' && readSetting(env, 'ENVIRONMENT') === 'production' ? noProvider : provider
}

function readWallet(env: Bindings): WalletConfig {
  return {
    name: readSetting(env, 'WALLET_PROVIDER'),
    vendors: {
      vendorA: readSetting(env, 'WALLET_VENDOR_A') ?? null,
      vendorB: readSetting(env, 'WALLET_VENDOR_B') ?? null,
    },
    apple: {
      passTypeId: readSetting(env, 'WALLET_APPLE_PASS_TYPE_ID') ?? 'pass.capture',
      teamId: readSetting(env, 'WALLET_APPLE_TEAM_ID') ?? 'CAPTURE',
      certificate: readSetting(env, 'WALLET_APPLE_CERTIFICATE') ?? '',
      privateKey: readSetting(env, 'WALLET_APPLE_PRIVATE_KEY') ?? '',
      issuerCertificate: readSetting(env, 'WALLET_APPLE_ISSUER_CERTIFICATE') ?? '',
    },
    google: {
      issuerId: readSetting(env, 'WALLET_GOOGLE_ISSUER_ID') ?? 'capture',
      serviceAccount: readSetting(env, 'WALLET_GOOGLE_SERVICE_ACCOUNT') ?? '',
      apiBase: readSetting(env, 'WALLET_GOOGLE_API_BASE') ?? '',
    },
  }
}

function readPayments(env: Bindings): Config['payments'] {
  // LINK_SIGNING_KEY can change at any time, so in production it must not encrypt stored secrets.
  const isProduction = readSetting(env, 'ENVIRONMENT') === 'production'
  const secret =
    readSetting(env, 'MERCHANT_KEY_SECRET') ?? (isProduction ? undefined : readSetting(env, 'LINK_SIGNING_KEY'))
  return {
    apiBase: readSetting(env, 'PAYMENT_API_BASE') ?? '',
    secrets: [secret, readSetting(env, 'MERCHANT_KEY_SECRET_PREVIOUS')].flatMap((text) => text ?? []),
  }
}

/** The present and the previous token. None counts without the present one. */
function readTokens(env: Bindings, name: 'ROOT_TOKEN' | 'METRICS_TOKEN'): string[] {
  const token = readSetting(env, name)
  return token === undefined ? [] : [token, readSetting(env, `${name}_PREVIOUS`)].flatMap((text) => text ?? [])
}

/** The key that is in use, and earlier ones. */
const readKeys = (key: string, previousKeys: readonly string[] = []): string[] => [
  ...(key ? [key] : []),
  ...previousKeys,
]

function readSignIn(env: Bindings, oidc: Config['oidc'], sendsEmail: boolean): Config['signIn'] {
  const [teamDomain, audience] = [readSetting(env, 'CF_ACCESS_TEAM_DOMAIN'), readSetting(env, 'CF_ACCESS_AUDIENCE')]
  const access = teamDomain && audience ? { teamDomain, audience } : null
  const isConfigured: Record<SignInMethod, boolean> = {
    code: sendsEmail && readSetting(env, 'LINK_SIGNING_KEY') !== undefined,
    link: true,
    oidc: oidc !== null,
    access: access !== null,
  }
  const allowedMethods = readSetting(env, 'SIGN_IN_METHODS') ?? signInMethods
  return {
    methods: signInMethods.filter((method) => isConfigured[method] && allowedMethods.includes(method)),
    clientId: readSetting(env, 'OIDC_CLIENT_ID') ?? null,
    access,
  }
}

function readAlerts(env: Bindings): Config['alerts'] {
  const [url, secret] = [readSetting(env, 'ALERT_WEBHOOK_URL'), readSetting(env, 'ALERT_WEBHOOK_SECRET')]
  return url === undefined || secret === undefined ? null : { url, secret }
}

function buildConfig(env: Bindings): Config {
  const fatalFaults = findFaults(env).filter(({ isFatal }) => isFatal)
  if (fatalFaults.length > 0) throw new Error(fatalFaults.map(({ message }) => message).join('\n'))
  const environment = readSetting(env, 'ENVIRONMENT')
  const publicUrl = readPublicUrl(env)
  const linkSigningKey = readSetting(env, 'LINK_SIGNING_KEY') ?? ''
  const linkReadingKeys = readKeys(linkSigningKey, readSetting(env, 'LINK_SIGNING_KEY_PREVIOUS'))
  const email = {
    name: readMessageProvider(env, 'EMAIL_PROVIDER'),
    apiBase: readSetting(env, 'EMAIL_API_BASE') ?? '',
    apiKey: readSetting(env, 'EMAIL_API_KEY') ?? '',
    webhookSecret: readSetting(env, 'EMAIL_WEBHOOK_SECRET') ?? '',
  }
  const [issuer, audience] = [readSetting(env, 'OIDC_ISSUER'), readSetting(env, 'OIDC_AUDIENCE')]
  const oidc = issuer && audience ? { issuer, audience } : null
  const scanUrl = readSetting(env, 'FILE_SCAN_URL')
  const outgoing = readSetting(env, 'OUTGOING')
  const sendsEmail = email.name !== noProvider && outgoing === 'send'
  return {
    environment,
    rootTokens: readTokens(env, 'ROOT_TOKEN'),
    metricsTokens: readTokens(env, 'METRICS_TOKEN'),
    publicUrl,
    linkSigningKey,
    linkReadingKeys,
    idempotencySecrets: readKeys(readSetting(env, 'IDEMPOTENCY_KEY') ?? '', linkReadingKeys),
    emailFrom: readSender(env),
    email,
    sms: {
      name: readMessageProvider(env, 'SMS_PROVIDER'),
      apiBase: readSetting(env, 'SMS_API_BASE') ?? '',
      apiKey: readSetting(env, 'SMS_API_KEY') ?? '',
      webhookSecret: readSetting(env, 'SMS_WEBHOOK_SECRET') ?? '',
    },
    dns: { name: readSetting(env, 'DNS_PROVIDER'), apiBase: readSetting(env, 'DNS_API_BASE') ?? '' },
    wallet: readWallet(env),
    payments: readPayments(env),
    webhooks: {
      allowInsecure: environment !== 'production' && readSetting(env, 'ALLOW_INSECURE_WEBHOOKS') === true,
      ownHosts: [readText(env, 'PUBLIC_URL'), readText(env, 'FILES_URL')]
        .map(getHost)
        .filter((host) => host && !isThisMachine(host)),
      schedule: readSetting(env, 'WEBHOOK_RETRY_SCHEDULE'),
    },
    alerts: readAlerts(env),
    files: {
      url: readSetting(env, 'FILES_URL') ?? publicUrl,
      scan: scanUrl ? { url: scanUrl, key: readSetting(env, 'FILE_SCAN_KEY') ?? '' } : null,
    },
    cell: readSetting(env, 'CELL') ?? '',
    retentionMs: {
      webhooks: readSetting(env, 'WEBHOOK_KEPT_DAYS') * dayMs,
      auditLog: readSetting(env, 'AUDIT_KEPT_DAYS') * dayMs,
    },
    outgoing,
    oidc,
    signIn: readSignIn(env, oidc, sendsEmail),
  }
}

const configs = new WeakMap<Bindings, Config>()

/** The configuration of an isolate, which never changes. Throws if a setting makes it impossible. */
export function readConfig(env: Bindings): Config {
  const config = configs.get(env) ?? buildConfig(env)
  configs.set(env, config)
  return config
}
