import { retentionDays } from '../time/instants.ts'
import { walletPlatforms } from '../wallet/wallet.ts'
import { standardSchedule } from '../webhooks/webhooks.ts'
import * as forms from './forms.ts'

/** The headings of the page that lists the settings, in its order. */
export const settingGroups = {
  service: 'The service itself',
  access: 'Signing in and limits',
  files: 'Files and webhooks',
  messages: 'E-mail and SMS',
  payments: 'Payments',
  wallet: 'Wallet passes',
} as const

export interface Setting {
  group: keyof typeof settingGroups
  form: forms.Form<unknown>
  /** True for a secret. The others are variables of wrangler.toml. */
  isSecret?: true
  /** True for a random secret of an installation, which no other service gives out. */
  isGenerated?: true
  /** The text that counts when none is set. */
  default?: string
  /** The text for development on this machine. */
  development?: string
  /** True if a text of another form counts as not set. Otherwise the Worker does not start with it. */
  fallsBack?: true
  /** The sentence of the documents about the setting. */
  description: string
}

const maxRetentionDays = 36_500
const days = forms.wholeNumber(1, maxRetentionDays, ' of days')

/** Every setting of the Worker. A blank text counts as not set. */
export const settings = {
  ENVIRONMENT: {
    group: 'service',
    form: forms.choice('production', 'development', 'test'),
    default: 'production',
    development: 'development',
    fallsBack: true,
    description:
      '`production`, `development` (`npm start`) or `test`. Development opens the mailbox at `/dev/outbox` and lets browsers on this machine call the API.',
  },
  PUBLIC_URL: {
    group: 'service',
    form: forms.publicUrl,
    development: 'http://localhost:8787',
    fallsBack: true,
    description:
      'The address of this service. Links in answers and e-mails begin with it, and webhooks cannot be sent to its host.',
  },
  ROOT_TOKEN: {
    group: 'service',
    form: forms.tokenText,
    isSecret: true,
    isGenerated: true,
    development: 'root-token-for-development',
    fallsBack: true,
    description:
      "The superuser's token, which makes the first organisation and its tokens. Without it nobody can sign in to a new service.",
  },
  ROOT_TOKEN_PREVIOUS: {
    group: 'service',
    form: forms.tokenText,
    isSecret: true,
    fallsBack: true,
    description: "The superuser's token before, which is still accepted.",
  },
  LINK_SIGNING_KEY: {
    group: 'service',
    form: forms.linkKey,
    isSecret: true,
    isGenerated: true,
    development: 'link-signing-key-for-development',
    description:
      'Signs links in e-mails and addresses of private files, and makes codes to sign in with. Without it no campaign is sent, files of imports are not read, and requests with an `Idempotency-Key` are answered with 503.',
  },
  LINK_SIGNING_KEY_PREVIOUS: {
    group: 'service',
    form: forms.linkKeyList,
    isSecret: true,
    description: 'Earlier keys, separated by commas, with which links are still read.',
  },
  IDEMPOTENCY_KEY: {
    group: 'service',
    form: forms.anyText,
    isSecret: true,
    isGenerated: true,
    description: 'Encrypts stored answers to requests with an `Idempotency-Key`. `LINK_SIGNING_KEY` by default.',
  },
  METRICS_TOKEN: {
    group: 'service',
    form: forms.tokenText,
    isSecret: true,
    fallsBack: true,
    description: 'The token that may read [`/metrics`](operating.md#metrics). Without it there is no `/metrics`.',
  },
  METRICS_TOKEN_PREVIOUS: {
    group: 'service',
    form: forms.tokenText,
    isSecret: true,
    fallsBack: true,
    description: 'The token before, which may still read `/metrics`.',
  },
  ALERT_WEBHOOK_URL: {
    group: 'service',
    form: forms.requestUrl,
    isSecret: true,
    fallsBack: true,
    description: 'The address to which [alarms](operating.md#alarms) are posted. Without it nothing is posted.',
  },
  ALERT_WEBHOOK_SECRET: {
    group: 'service',
    form: forms.webhookSecret,
    isSecret: true,
    fallsBack: true,
    description:
      'The key that signs what is posted to `ALERT_WEBHOOK_URL`: `whsec_` and the base64 of 32 random bytes.',
  },
  WEBHOOK_KEPT_DAYS: {
    group: 'service',
    form: days,
    default: String(retentionDays.webhooks),
    description: 'The whole days for which webhook events are kept.',
  },
  AUDIT_KEPT_DAYS: {
    group: 'service',
    form: days,
    default: String(retentionDays.auditLog),
    description: 'The whole days for which audit entries are kept.',
  },
  OUTGOING: {
    group: 'service',
    form: forms.choice('send', 'hold'),
    default: 'send',
    description:
      '`hold` [holds](holding.md) everything that would be sent, posted or paid, until you remove it: the first step of every restore.',
  },
  CELL: {
    group: 'service',
    form: forms.cell,
    description:
      'Two characters of a to z and 0 to 9 that new ids and tokens carry; none by default. Set it once, before the first organisation ([past one database](scaling.md#past-one-database)).',
  },
  OIDC_ISSUER: {
    group: 'access',
    form: forms.issuer,
    description:
      'Accepts access and ID tokens of this OpenID Connect issuer. A verified e-mail address identifies the member.',
  },
  OIDC_AUDIENCE: {
    group: 'access',
    form: forms.anyText,
    description: 'The audience that tokens of the issuer have for this service.',
  },
  OIDC_CLIENT_ID: {
    group: 'access',
    form: forms.anyText,
    description: 'The id of the console at this issuer, whose ID tokens can be exchanged for a session.',
  },
  CF_ACCESS_TEAM_DOMAIN: {
    group: 'access',
    form: forms.teamDomain,
    description:
      'The team domain, such as `example.cloudflareaccess.com`, of the Cloudflare Access that stands in front of this service and identifies the member.',
  },
  CF_ACCESS_AUDIENCE: {
    group: 'access',
    form: forms.anyText,
    description: "The audience tag of this service's application in Cloudflare Access.",
  },
  SIGN_IN_METHODS: {
    group: 'access',
    form: forms.signInMethodList,
    description:
      'The ways to [sign in](signing-in.md#for-operators), separated by commas: `code`, `link`, `oidc`, `access`. By default all that are configured.',
  },
  CORS_ORIGINS: {
    group: 'access',
    form: forms.originList,
    fallsBack: true,
    description:
      "Origins of browsers that may call, separated by commas. None by default; this machine's in development.",
  },
  RATE_LIMIT_PER_MINUTE: {
    group: 'access',
    form: forms.wholeNumber(0, 999_999_999),
    default: '600',
    fallsBack: true,
    description:
      'The limit that answers announce; 0 enforces none. Change the limits in `wrangler.toml` with it; `npm start` does that.',
  },
  FILES_URL: {
    group: 'files',
    form: forms.origin,
    description:
      'A host of its own for files, such as `https://files.example.com`, routed to this Worker. `PUBLIC_URL` by default.',
  },
  FILE_SCAN_URL: {
    group: 'files',
    form: forms.requestUrl,
    description: 'The [scanner](files.md#scanning-files) of new files.',
  },
  FILE_SCAN_KEY: {
    group: 'files',
    form: forms.anyText,
    isSecret: true,
    description: 'The bearer token of the scanner.',
  },
  WEBHOOK_RETRY_SCHEDULE: {
    group: 'files',
    form: forms.secondsList,
    default: standardSchedule.join(','),
    description: 'Seconds before the second and each further attempt, separated by commas.',
  },
  ALLOW_INSECURE_WEBHOOKS: {
    group: 'files',
    form: forms.flag,
    fallsBack: true,
    description:
      '`1` permits endpoints with http, other ports and addresses of this machine, in development and tests only.',
  },
  EMAIL_PROVIDER: {
    group: 'messages',
    form: forms.choice('capture', 'resend', 'cloudflare'),
    description:
      '`capture` (default, in development only), `resend`, or `cloudflare`, which sends one message at a time over a `send_email` binding named `EMAIL`, and no campaigns.',
  },
  EMAIL_FROM: {
    group: 'messages',
    form: forms.mailbox,
    description:
      'The sender where the edition has no verified address, such as `Events <no-reply@example.com>`. By default no-reply at the host of `PUBLIC_URL`.',
  },
  EMAIL_API_KEY: {
    group: 'messages',
    form: forms.anyText,
    isSecret: true,
    description: "Resend's key.",
  },
  EMAIL_API_BASE: {
    group: 'messages',
    form: forms.apiBase,
    description: "Another address than Resend's own.",
  },
  EMAIL_WEBHOOK_SECRET: {
    group: 'messages',
    form: forms.anyText,
    isSecret: true,
    description: '`whsec_…` of the webhook by which Resend reports deliveries and bounces.',
  },
  SMS_PROVIDER: {
    group: 'messages',
    form: forms.choice('capture', 'gatewayapi'),
    description: '`capture` (default, in development only) or `gatewayapi`.',
  },
  SMS_API_KEY: {
    group: 'messages',
    form: forms.anyText,
    isSecret: true,
    description: "GatewayAPI's token.",
  },
  SMS_API_BASE: {
    group: 'messages',
    form: forms.apiBase,
    description: 'Another address than `https://messaging.gatewayapi.eu`.',
  },
  SMS_WEBHOOK_SECRET: {
    group: 'messages',
    form: forms.anyText,
    isSecret: true,
    description: 'The key with which GatewayAPI signs its reports.',
  },
  DNS_PROVIDER: {
    group: 'messages',
    form: forms.choice('capture', 'https'),
    default: 'capture',
    description: 'Who looks up the records of sender domains: `capture`, for development, or `https`.',
  },
  DNS_API_BASE: {
    group: 'messages',
    form: forms.apiBase,
    description: 'Another resolver with JSON answers than `https://cloudflare-dns.com/dns-query`.',
  },
  MERCHANT_KEY_SECRET: {
    group: 'payments',
    form: forms.anyText,
    isSecret: true,
    isGenerated: true,
    description: 'Encrypts the keys of merchant accounts. `LINK_SIGNING_KEY` does in development.',
  },
  MERCHANT_KEY_SECRET_PREVIOUS: {
    group: 'payments',
    form: forms.anyText,
    isSecret: true,
    description: 'The secret before, with which keys are still read.',
  },
  PAYMENT_API_BASE: {
    group: 'payments',
    form: forms.apiBase,
    description: "Another address than Stripe's own. It begins with `https://`, except on this machine in development.",
  },
  WALLET_VENDOR_A: {
    group: 'wallet',
    form: forms.choice(...walletPlatforms),
    description: 'Which platform events call `vendorA`: `apple`, `google` or empty.',
  },
  WALLET_VENDOR_B: {
    group: 'wallet',
    form: forms.choice(...walletPlatforms),
    description: 'Which platform events call `vendorB`.',
  },
  WALLET_PROVIDER: {
    group: 'wallet',
    form: forms.choice('capture', 'live'),
    default: 'capture',
    description:
      '`capture`, for development, or `live`, which needs the following for each platform that is a vendor, except `WALLET_GOOGLE_API_BASE`.',
  },
  WALLET_APPLE_PASS_TYPE_ID: {
    group: 'wallet',
    form: forms.anyText,
    description: "The pass type of Apple's developer account.",
  },
  WALLET_APPLE_TEAM_ID: {
    group: 'wallet',
    form: forms.anyText,
    description: "The team of Apple's developer account.",
  },
  WALLET_APPLE_CERTIFICATE: {
    group: 'wallet',
    form: forms.pem('CERTIFICATE'),
    isSecret: true,
    fallsBack: true,
    description: 'The certificate of the pass type: PEM, with line ends or `\\n`, as the next two.',
  },
  WALLET_APPLE_PRIVATE_KEY: {
    group: 'wallet',
    form: forms.pem('PRIVATE KEY'),
    isSecret: true,
    fallsBack: true,
    description: 'The key of the certificate (PKCS#8, RSA).',
  },
  WALLET_APPLE_ISSUER_CERTIFICATE: {
    group: 'wallet',
    form: forms.pem('CERTIFICATE'),
    isSecret: true,
    fallsBack: true,
    description: "Apple's WWDR certificate.",
  },
  WALLET_GOOGLE_ISSUER_ID: {
    group: 'wallet',
    form: forms.anyText,
    description: 'The issuer of passes.',
  },
  WALLET_GOOGLE_API_BASE: {
    group: 'wallet',
    form: forms.apiBase,
    description: "Another address than that of Google's API.",
  },
  WALLET_GOOGLE_SERVICE_ACCOUNT: {
    group: 'wallet',
    form: forms.serviceAccount,
    isSecret: true,
    fallsBack: true,
    description: "The JSON key file of a service account that can write the issuer's passes.",
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings

type ValueOf<Declaration> = Declaration extends { form: forms.Form<infer Value> } ? Value : never

/** The value that a setting has when it is read. Undefined if it is not set and has no default. */
export type SettingValue<Name extends SettingName> =
  | ValueOf<(typeof settings)[Name]>
  | ((typeof settings)[Name] extends { default: string } ? never : undefined)

export const settingNames = Object.keys(settings) as SettingName[]

export const getSetting = (name: SettingName): Setting => settings[name]

export const secretNames = settingNames.filter((name) => getSetting(name).isSecret)

/** The texts of settings. TOML and JSON also have numbers and booleans. */
export type SettingTexts = { readonly [Name in SettingName]?: string | number | boolean | undefined }

/** Reads the text of a setting. Empty if it is not set. */
export function readText(texts: SettingTexts, name: SettingName): string {
  const text = String(texts[name] ?? '')
  return text.trim() === '' ? '' : text
}

/** Reads a setting. Throws if its text has another form and does not fall back. */
export function readSetting<Name extends SettingName>(texts: SettingTexts, name: Name): SettingValue<Name> {
  const setting = getSetting(name)
  const text = readText(texts, name)
  const value = text === '' ? null : setting.form.read(text)
  if (value !== null) return value as SettingValue<Name>
  if (text !== '' && !setting.fallsBack) throw new Error(describeForm(name, text))
  return (setting.default === undefined ? undefined : setting.form.read(setting.default)) as SettingValue<Name>
}

const maxQuoteLength = 100

/** Says which form a setting must have. The value of a secret is left out. */
export function describeForm(name: SettingName, text: string): string {
  const { isSecret, form } = getSetting(name)
  const quote = text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength)}…` : text
  return `${name} ${isSecret ? 'has another form' : `is ${JSON.stringify(quote)}`}. It must be ${form.description}.`
}
