import { describeAlertFault } from '../alarms.ts'
import { readSetting, readText, secretNames, getSetting, type SettingName, type SettingTexts } from './settings.ts'

/** The knowledge of a check about the installation. Rules about what is unknown are left out. */
export interface Installation {
  /** The requests per minute that the binding RATE_LIMITER allows with one token. */
  tokenLimit?: number
  /** True if the Worker has the binding EMAIL. */
  hasEmailBinding?: boolean
}

/** A setting that has no effect, or a wrong one, without another setting. */
export interface Need {
  setting: SettingName
  /** The need counts for this value alone. */
  value?: string
  needed: SettingName
  /** True if the Worker does not start without the other setting. */
  isFatal?: true
}

/** Methods of SIGN_IN_METHODS that need no setting are not here. Codes wait for a provider of e-mails. */
export const needs: readonly Need[] = [
  { setting: 'ROOT_TOKEN_PREVIOUS', needed: 'ROOT_TOKEN' },
  { setting: 'LINK_SIGNING_KEY_PREVIOUS', needed: 'LINK_SIGNING_KEY' },
  { setting: 'METRICS_TOKEN_PREVIOUS', needed: 'METRICS_TOKEN' },
  { setting: 'ALERT_WEBHOOK_URL', needed: 'ALERT_WEBHOOK_SECRET' },
  { setting: 'ALERT_WEBHOOK_SECRET', needed: 'ALERT_WEBHOOK_URL' },
  { setting: 'OIDC_ISSUER', needed: 'OIDC_AUDIENCE' },
  { setting: 'OIDC_AUDIENCE', needed: 'OIDC_ISSUER' },
  { setting: 'OIDC_CLIENT_ID', needed: 'OIDC_ISSUER' },
  { setting: 'CF_ACCESS_TEAM_DOMAIN', needed: 'CF_ACCESS_AUDIENCE', isFatal: true },
  { setting: 'CF_ACCESS_AUDIENCE', needed: 'CF_ACCESS_TEAM_DOMAIN', isFatal: true },
  { setting: 'SIGN_IN_METHODS', value: 'oidc', needed: 'OIDC_ISSUER', isFatal: true },
  { setting: 'SIGN_IN_METHODS', value: 'oidc', needed: 'OIDC_AUDIENCE', isFatal: true },
  { setting: 'SIGN_IN_METHODS', value: 'access', needed: 'CF_ACCESS_TEAM_DOMAIN', isFatal: true },
  { setting: 'FILE_SCAN_URL', needed: 'LINK_SIGNING_KEY', isFatal: true },
  { setting: 'FILE_SCAN_KEY', needed: 'FILE_SCAN_URL' },
  { setting: 'EMAIL_PROVIDER', value: 'resend', needed: 'EMAIL_API_KEY' },
  { setting: 'EMAIL_PROVIDER', value: 'resend', needed: 'PUBLIC_URL' },
  { setting: 'EMAIL_PROVIDER', value: 'cloudflare', needed: 'PUBLIC_URL' },
  { setting: 'SMS_PROVIDER', value: 'gatewayapi', needed: 'SMS_API_KEY' },
  { setting: 'SMS_PROVIDER', value: 'gatewayapi', needed: 'PUBLIC_URL' },
  { setting: 'MERCHANT_KEY_SECRET_PREVIOUS', needed: 'MERCHANT_KEY_SECRET' },
]

const platformNeeds = {
  apple: [
    'WALLET_APPLE_PASS_TYPE_ID',
    'WALLET_APPLE_TEAM_ID',
    'WALLET_APPLE_CERTIFICATE',
    'WALLET_APPLE_PRIVATE_KEY',
    'WALLET_APPLE_ISSUER_CERTIFICATE',
  ],
  google: ['WALLET_GOOGLE_ISSUER_ID', 'WALLET_GOOGLE_SERVICE_ACCOUNT'],
} as const

const isSet = (texts: SettingTexts, name: SettingName): boolean => readText(texts, name) !== ''

const listMissing = (texts: SettingTexts, names: readonly SettingName[]): SettingName[] =>
  names.filter((name) => !isSet(texts, name))

const isProduction = (texts: SettingTexts): boolean => readSetting(texts, 'ENVIRONMENT') === 'production'

const isThisMachine = (url: string): boolean =>
  ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname.toLowerCase())

/** Lists the hosts that lead to this service. In development, other programs run on the same machine. */
const listOwnHosts = (texts: SettingTexts): string[] =>
  (['PUBLIC_URL', 'FILES_URL'] as const).flatMap((name) => {
    const url = readSetting(texts, name)
    return url === undefined || isThisMachine(url) ? [] : [new URL(url).hostname]
  })

const listVendors = (texts: SettingTexts) =>
  (['WALLET_VENDOR_A', 'WALLET_VENDOR_B'] as const).flatMap((name) => readSetting(texts, name) ?? [])

export interface Conflict {
  setting: SettingName
  /** True if the Worker does not start with it. */
  isFatal: boolean
  /** Says what is wrong and what to do, for each fault. */
  describe: (texts: SettingTexts, installation: Installation) => string[]
}

const describeIf = (isWrong: boolean, ...sentences: string[]): string[] => (isWrong ? [sentences.join(' ')] : [])

/** Production captures nothing, because nobody would see that nothing is sent. */
const captureConflicts = (
  [
    ['EMAIL_PROVIDER', 'resend or cloudflare', 'No e-mail is sent.'],
    ['SMS_PROVIDER', 'gatewayapi', 'No SMS is sent.'],
    ['DNS_PROVIDER', 'https', 'No sender domain is verified.'],
  ] as const
).map(([setting, providers, effect]): Conflict => ({
  setting,
  isFatal: false,
  describe: (texts) =>
    describeIf(
      isProduction(texts) && readText(texts, setting) === 'capture',
      `${setting} is "capture", which is for development. ${effect} Set ${setting} to ${providers}.`,
    ),
}))

const developmentConflicts = secretNames.map((setting): Conflict => ({
  setting,
  isFatal: false,
  describe: (texts) =>
    describeIf(
      isProduction(texts) && isSet(texts, setting) && readText(texts, setting) === getSetting(setting).development,
      `${setting} is the one of development, which everybody can read. Set a long random text.`,
    ),
}))

const walletConflicts: readonly Conflict[] = [
  {
    setting: 'WALLET_VENDOR_B',
    isFatal: true,
    describe: (texts) => {
      const [one, other] = listVendors(texts)
      return describeIf(
        one !== undefined && one === other,
        `WALLET_VENDOR_A and WALLET_VENDOR_B are both "${one}". Each platform can be only one of them. Change one, or leave it empty.`,
      )
    },
  },
  {
    setting: 'WALLET_PROVIDER',
    isFatal: true,
    describe: (texts) => {
      if (readSetting(texts, 'WALLET_PROVIDER') !== 'live') return []
      const missing = new Set(listVendors(texts).flatMap((vendor) => listMissing(texts, platformNeeds[vendor])))
      return [...missing].map((needed) => describeNeed({ setting: 'WALLET_PROVIDER', value: 'live', needed }))
    },
  },
  {
    setting: 'WALLET_PROVIDER',
    isFatal: false,
    describe: (texts) => {
      const isLive = readSetting(texts, 'WALLET_PROVIDER') === 'live'
      const hasVendor = listVendors(texts).length > 0
      return [
        ...describeIf(
          isLive && !hasVendor,
          'WALLET_PROVIDER=live makes no passes without a vendor.',
          'Set WALLET_VENDOR_A or WALLET_VENDOR_B, or remove WALLET_PROVIDER.',
        ),
        ...describeIf(
          isProduction(texts) && !isLive && hasVendor,
          'WALLET_PROVIDER is "capture", which is for development: no phone accepts the passes.',
          'Set WALLET_PROVIDER to live, or remove WALLET_VENDOR_A and WALLET_VENDOR_B.',
        ),
      ]
    },
  },
]

const otherConflicts: readonly Conflict[] = [
  {
    setting: 'FILES_URL',
    isFatal: true,
    describe: (texts) => {
      const [filesUrl, publicUrl] = [readSetting(texts, 'FILES_URL'), readSetting(texts, 'PUBLIC_URL')]
      return describeIf(
        !!filesUrl && !!publicUrl && new URL(filesUrl).host === new URL(publicUrl).host,
        `FILES_URL has the same host as PUBLIC_URL. Route another host to this Worker, or remove FILES_URL.`,
      )
    },
  },
  {
    setting: 'PAYMENT_API_BASE',
    isFatal: true,
    describe: (texts) => {
      const base = readSetting(texts, 'PAYMENT_API_BASE')
      const isPlain = base !== undefined && new URL(base).protocol !== 'https:'
      return describeIf(
        isPlain && (isProduction(texts) || !isThisMachine(base)),
        `PAYMENT_API_BASE is "${base}". It must begin with https://, or name this machine in development.`,
      )
    },
  },
  {
    setting: 'ALERT_WEBHOOK_URL',
    isFatal: false,
    describe: (texts) => {
      const url = readSetting(texts, 'ALERT_WEBHOOK_URL')
      const allowInsecure = !isProduction(texts) && readSetting(texts, 'ALLOW_INSECURE_WEBHOOKS') === true
      const fault = url === undefined ? null : describeAlertFault(url, { allowInsecure, ownHosts: listOwnHosts(texts) })
      return describeIf(fault !== null, `${fault} Change ALERT_WEBHOOK_URL.`)
    },
  },
  {
    setting: 'ALLOW_INSECURE_WEBHOOKS',
    isFatal: false,
    describe: (texts) =>
      describeIf(
        isProduction(texts) && readSetting(texts, 'ALLOW_INSECURE_WEBHOOKS') === true,
        'ALLOW_INSECURE_WEBHOOKS has no effect in production. Remove it.',
      ),
  },
  {
    setting: 'RATE_LIMIT_PER_MINUTE',
    isFatal: false,
    describe: (texts, { tokenLimit }) => {
      const limit = readSetting(texts, 'RATE_LIMIT_PER_MINUTE')
      return describeIf(
        tokenLimit !== undefined && limit !== 0 && limit !== tokenLimit,
        `RATE_LIMIT_PER_MINUTE is ${limit}, and the limit of RATE_LIMITER in wrangler.toml is ${tokenLimit}.`,
        'Set both to the same number, and that of MEMBER_RATE_LIMITER to twice as much.',
      )
    },
  },
  {
    setting: 'EMAIL_PROVIDER',
    isFatal: false,
    describe: (texts, { hasEmailBinding }) =>
      describeIf(
        hasEmailBinding === false && readSetting(texts, 'EMAIL_PROVIDER') === 'cloudflare',
        'EMAIL_PROVIDER=cloudflare needs a binding. Add a `send_email` binding named EMAIL to wrangler.toml, or choose resend.',
      ),
  },
]

/** Settings that contradict each other or the installation. */
export const conflicts: readonly Conflict[] = [
  ...captureConflicts,
  ...developmentConflicts,
  ...walletConflicts,
  ...otherConflicts,
]

const formatCause = ({ setting, value }: Need): string => (value === undefined ? setting : `${setting}=${value}`)

function describeNeed(need: Need): string {
  const { setting, value, needed } = need
  const remedy = value === undefined ? 'remove' : 'change'
  return `${needed} is not set. ${formatCause(need)} needs it. Set ${needed}, or ${remedy} ${setting}.`
}

/** Describes the need if the settings do not meet it. */
export function describeUnmetNeed(texts: SettingTexts, need: Need): string[] {
  const { setting, value, needed } = need
  const values = readText(texts, setting)
    .split(',')
    .map((part) => part.trim())
  const isDue = value === undefined ? isSet(texts, setting) : values.includes(value)
  return describeIf(isDue && !isSet(texts, needed), describeNeed(need))
}
