import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './paths.ts'

/** What `npm start` hands from its environment to the Worker. */
export const variables = [
  'ROOT_TOKEN',
  'PUBLIC_URL',
  'CORS_ORIGINS',
  'RATE_LIMIT_PER_MINUTE',
  'OIDC_ISSUER',
  'OIDC_AUDIENCE',
  'LINK_SIGNING_KEY',
  'IDEMPOTENCY_KEY',
  'EMAIL_FROM',
  'EMAIL_PROVIDER',
  'EMAIL_API_BASE',
  'EMAIL_API_KEY',
  'EMAIL_WEBHOOK_SECRET',
  'SMS_PROVIDER',
  'SMS_API_BASE',
  'SMS_API_KEY',
  'SMS_WEBHOOK_SECRET',
  'DNS_PROVIDER',
  'DNS_API_BASE',
  'WALLET_PROVIDER',
  'WALLET_VENDOR_A',
  'WALLET_VENDOR_B',
  'WALLET_APPLE_PASS_TYPE_ID',
  'WALLET_APPLE_TEAM_ID',
  'WALLET_APPLE_CERTIFICATE',
  'WALLET_APPLE_PRIVATE_KEY',
  'WALLET_APPLE_ISSUER_CERTIFICATE',
  'WALLET_GOOGLE_ISSUER_ID',
  'WALLET_GOOGLE_API_BASE',
  'WALLET_GOOGLE_SERVICE_ACCOUNT',
  'PAYMENT_API_BASE',
  'MERCHANT_KEY_SECRET',
  'MERCHANT_KEY_SECRET_PREVIOUS',
  'FILES_URL',
  'FILE_SCAN_URL',
  'FILE_SCAN_KEY',
  'ALLOW_INSECURE_WEBHOOKS',
  'WEBHOOK_RETRY_SCHEDULE',
  'WEBHOOK_KEPT_DAYS',
  'AUDIT_KEPT_DAYS',
  'CELL',
] as const

export type Variables = Partial<Record<(typeof variables)[number], string | undefined>>

/** Secrets stay out of the process list: they go by a file that only its owner reads. */
export async function writeVariables(folder: string, env: Variables): Promise<string> {
  const given = variables.flatMap((name): [string, string][] => (env[name] ? [[name, env[name]]] : []))
  const lines = [['ENVIRONMENT', 'development'] as const, ...given].map(
    ([name, value]) => `${name}=${quote(name, value)}`,
  )
  const file = join(folder, 'variables.env')
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  return file
}

const markFor = (value: string) => ["'", '`'].find((candidate) => !value.includes(candidate))

/** Throws for a value that a file of variables cannot hold. */
export function checkQuoting(name: string, value: string): void {
  if (!markFor(value) || /[\r\n]/.test(value)) throw new Error(`${name} may not hold line ends, nor ' and \` together.`)
}

function quote(name: string, value: string): string {
  checkQuoting(name, value)
  const mark = markFor(value)
  return mark + value.replaceAll('$', String.raw`\$`) + mark
}

/** The limit of a rate limiting binding is static: another one takes a copy of the configuration. */
export async function writeConfig(folder: string, rateLimit: string | undefined): Promise<string> {
  const original = join(root, 'wrangler.toml')
  if (!rateLimit || rateLimit === '0') return original
  if (!/^[1-9]\d{0,8}$/.test(rateLimit)) throw new Error(`RATE_LIMIT_PER_MINUTE is a whole number, not ${rateLimit}.`)
  const text = replaceEach(await readFile(original, 'utf8'), [
    [/(name = "RATE_LIMITER"[^[]*?\blimit = )\d+/, `$1${rateLimit}`],
    [/(name = "MEMBER_RATE_LIMITER"[^[]*?\blimit = )\d+/, `$1${2 * Number(rateLimit)}`],
    [
      /^((?:main|directory|migrations_dir) = )"(.*)"$/gm,
      (_, key: string, path: string) => key + JSON.stringify(join(root, path)),
    ],
  ])
  const file = join(folder, 'wrangler.toml')
  await writeFile(file, text)
  return file
}

type Replacement = [RegExp, string | ((...found: string[]) => string)]

function replaceEach(text: string, replacements: Replacement[]): string {
  return replacements.reduce((current, [pattern, by]) => {
    if (current.search(pattern) < 0) throw new Error(`wrangler.toml has nothing like ${pattern}.`)
    return typeof by === 'string' ? current.replace(pattern, by) : current.replace(pattern, by)
  }, text)
}
