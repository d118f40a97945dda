/** The variables that `npm start` passes from its environment to the Worker. */
export const variables = [
  'ROOT_TOKEN',
  'PUBLIC_URL',
  'CORS_ORIGINS',
  'RATE_LIMIT_PER_MINUTE',
  'OIDC_ISSUER',
  'OIDC_AUDIENCE',
  'OIDC_CLIENT_ID',
  'CF_ACCESS_TEAM_DOMAIN',
  'CF_ACCESS_AUDIENCE',
  'SIGN_IN_METHODS',
  'LINK_SIGNING_KEY',
  'LINK_SIGNING_KEY_PREVIOUS',
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
  'METRICS_TOKEN',
  'METRICS_TOKEN_PREVIOUS',
  'CELL',
] as const

export type Variables = Partial<Record<(typeof variables)[number], string | undefined>>

/** Picks the variables of the Worker. An empty variable counts as not set. */
export function buildVariables(env: Variables): Record<string, string> {
  const values = variables.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []))
  return { ENVIRONMENT: 'development', ...Object.fromEntries(values) }
}
