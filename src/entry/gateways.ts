import type { Config, JobCtx } from '../context.ts'
import { type Channel, noProvider } from '../domain/messaging/messaging.ts'
import type { SettingValue } from '../domain/settings/settings.ts'
import { readSharedTime } from '../domain/time/instants.ts'
import { describeOutgoing, isHeld } from '../domain/waiting.ts'
import { createEmailCapture, createSmsCapture } from '../gateways/capture/capture.ts'
import { createDnsCapture, type DnsGateway } from '../gateways/dns/dns.ts'
import { createDnsOverHttps } from '../gateways/dns/https.ts'
import { createCloudflareGateway } from '../gateways/email/cloudflare.ts'
import type { EmailGateway } from '../gateways/email/email.ts'
import { createResendGateway } from '../gateways/email/resend.ts'
import { createHttpScanner } from '../gateways/file-scan/file-scan.ts'
import { createR2Store } from '../gateways/files/r2.ts'
import { holdCalls, type OutgoingGateways } from '../gateways/hold/hold.ts'
import { createImagesGateway } from '../gateways/images/images.ts'
import { createPassCapture } from '../gateways/passes/capture.ts'
import { createLivePasses } from '../gateways/passes/live.ts'
import type { PassesGateway } from '../gateways/passes/passes.ts'
import { buildPaymentGateways } from '../gateways/payments/gateways.ts'
import { createGatewayApi } from '../gateways/sms/gatewayapi.ts'
import type { SmsGateway } from '../gateways/sms/sms.ts'
import { createUnconfiguredEmail, createUnconfiguredSms } from '../gateways/unconfigured/unconfigured.ts'
import { FetchPost } from '../gateways/webhook-post/fetch-post.ts'
import type { Bindings } from '../http/env.ts'
import { createCaptureStore } from '../modules/dev-mailbox/index.ts'
import { createCapturedRecords } from '../modules/sender-domains/index.ts'
import { createCapturedKeys } from '../modules/wallet/index.ts'
import { readConfig } from './config.ts'

type GatewayCtx = Pick<JobCtx, 'db' | 'config' | 'now' | 'clockOffsetMs' | 'newId'>
type GatewayBindings = Pick<Bindings, 'EMAIL' | 'APPLE_PUSH' | 'FILES' | 'IMAGES'>
type ProviderName<Name extends 'EMAIL_PROVIDER' | 'SMS_PROVIDER' | 'DNS_PROVIDER' | 'WALLET_PROVIDER'> = NonNullable<
  SettingValue<Name>
>
type GatewayFactory<Gateway> = (parts: GatewayCtx, env: GatewayBindings) => Gateway

const emailGateways: Record<ProviderName<'EMAIL_PROVIDER'> | typeof noProvider, GatewayFactory<EmailGateway>> = {
  none: createUnconfiguredEmail,
  capture: (parts) => createEmailCapture(createCaptureStore(parts)),
  resend: (parts) => createResendGateway({ ...parts.config.email, now: () => readSharedTime(parts) }),
  cloudflare: (_, env) => createCloudflareGateway(env.EMAIL),
}

const smsGateways: Record<ProviderName<'SMS_PROVIDER'> | typeof noProvider, GatewayFactory<SmsGateway>> = {
  none: createUnconfiguredSms,
  capture: (parts) => createSmsCapture(createCaptureStore(parts)),
  gatewayapi: (parts) => createGatewayApi({ ...parts.config.sms, now: () => readSharedTime(parts) }),
}

const dnsGateways: Record<ProviderName<'DNS_PROVIDER'>, GatewayFactory<DnsGateway>> = {
  capture: (parts) => createDnsCapture(createCapturedRecords(parts)),
  https: ({ config }) => createDnsOverHttps(config.dns),
}

const buildWalletOptions = ({ config }: GatewayCtx) => ({
  apple: { ...config.wallet.apple, webServiceUrl: `${config.publicUrl}/wallet/apple` },
  google: { ...config.wallet.google, callbackUrl: `${config.publicUrl}/wallet/google/callback` },
})

const passesGateways: Record<ProviderName<'WALLET_PROVIDER'>, GatewayFactory<PassesGateway>> = {
  capture: (parts) =>
    createPassCapture({
      store: createCaptureStore(parts),
      keys: createCapturedKeys(parts),
      ...buildWalletOptions(parts),
    }),
  live: (parts, { APPLE_PUSH: push }) =>
    createLivePasses({ ...buildWalletOptions(parts), push, now: () => readSharedTime(parts) }),
}

function choose<Gateway>(variable: string, gateways: Record<string, Gateway>, name: string): Gateway {
  const gateway = Object.hasOwn(gateways, name) ? gateways[name] : undefined
  if (gateway) return gateway
  throw new Error(`${variable} is "${name}". It must be one of ${Object.keys(gateways).join(', ')}.`)
}

type ProviderConfig = Pick<Config, 'email' | 'sms' | 'dns' | 'wallet'>

const chooseFactories = (config: ProviderConfig) => ({
  email: choose('EMAIL_PROVIDER', emailGateways, config.email.name),
  sms: choose('SMS_PROVIDER', smsGateways, config.sms.name),
  dns: choose('DNS_PROVIDER', dnsGateways, config.dns.name),
  passes: choose('WALLET_PROVIDER', passesGateways, config.wallet.name),
})

type Gateways = OutgoingGateways & Pick<JobCtx, 'alertPost' | 'dns' | 'files' | 'images' | 'scanner'>

/** Creates the gateways of the configured providers. */
export function createGateways(env: GatewayBindings, parts: GatewayCtx): Gateways {
  const { email, sms, dns, passes } = chooseFactories(parts.config)
  const { environment, payments, files } = parts.config
  const outgoingGateways: OutgoingGateways = {
    email: email(parts, env),
    sms: sms(parts, env),
    passes: passes(parts, env),
    payments: buildPaymentGateways({ environment, apiBase: payments.apiBase }),
    webhookPost: new FetchPost(),
  }
  return {
    ...(isHeld(parts.config) ? holdCalls(outgoingGateways) : outgoingGateways),
    alertPost: new FetchPost(),
    dns: dns(parts, env),
    files: createR2Store(env.FILES),
    images: env.IMAGES ? createImagesGateway(env.IMAGES) : null,
    scanner: files.scan ? createHttpScanner(files.scan) : null,
  }
}

/**
 * Says for `/healthz` through which channels messages go out, and whether anything does. Captured messages are stored for
 * development.
 */
export function describeProviders(env: Bindings): Record<Channel | 'outgoing', string> {
  const config = readConfig(env)
  const describe = (name: string) => {
    if (name === noProvider) return 'not configured'
    return name === 'capture' ? 'captured' : 'configured'
  }
  return { email: describe(config.email.name), sms: describe(config.sms.name), outgoing: describeOutgoing(config) }
}
