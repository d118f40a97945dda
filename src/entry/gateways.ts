import type { Config, JobCtx } from '../context.ts'
import { captureEmail, captureSms } from '../gateways/capture/capture.ts'
import { capturedDns } from '../gateways/dns/captured.ts'
import type { DnsGateway } from '../gateways/dns/dns.ts'
import { dnsOverHttps } from '../gateways/dns/https.ts'
import { cloudflareGateway } from '../gateways/email/cloudflare.ts'
import type { EmailGateway } from '../gateways/email/email.ts'
import { resendGateway } from '../gateways/email/resend.ts'
import { gatewayApi } from '../gateways/sms/gatewayapi.ts'
import type { SmsGateway } from '../gateways/sms/sms.ts'
import type { Bindings } from '../http/env.ts'
import { captureStore } from '../modules/outbox/index.ts'
import { capturedRecords } from '../modules/sender-domains/index.ts'

type Parts = Pick<JobCtx, 'db' | 'config' | 'now' | 'newId'>
type Maker<Gateway> = (parts: Parts, env: Pick<Bindings, 'EMAIL'>) => Gateway

const emailGateways: Record<string, Maker<EmailGateway>> = {
  capture: (parts) => captureEmail(captureStore(parts)),
  resend: ({ config, now }) => resendGateway({ ...config.email, now }),
  cloudflare: (_, env) => cloudflareGateway(env.EMAIL),
}

const smsGateways: Record<string, Maker<SmsGateway>> = {
  capture: (parts) => captureSms(captureStore(parts)),
  gatewayapi: ({ config, now }) => gatewayApi({ ...config.sms, now }),
}

const dnsGateways: Record<string, Maker<DnsGateway>> = {
  capture: (parts) => capturedDns(capturedRecords(parts)),
  https: ({ config }) => dnsOverHttps(config.dns),
}

function choose<Gateway>(variable: string, known: Record<string, Gateway>, name: string): Gateway {
  const gateway = Object.hasOwn(known, name) ? known[name] : undefined
  if (gateway) return gateway
  throw new Error(`${variable} is "${name}". It is one of ${Object.keys(known).join(', ')}.`)
}

type Chosen = Pick<Config, 'email' | 'sms' | 'dns'>

const chosen = (config: Chosen) => ({
  email: choose('EMAIL_PROVIDER', emailGateways, config.email.name),
  sms: choose('SMS_PROVIDER', smsGateways, config.sms.name),
  dns: choose('DNS_PROVIDER', dnsGateways, config.dns.name),
})

/** Throws for providers that nobody knows. */
export const checkProviders = (config: Chosen): unknown => chosen(config)

/** The gateways of the providers that the configuration names. */
export function gatewaysOf(env: Pick<Bindings, 'EMAIL'>, parts: Parts): Pick<JobCtx, 'email' | 'sms' | 'dns'> {
  const { email, sms, dns } = chosen(parts.config)
  return { email: email(parts, env), sms: sms(parts, env), dns: dns(parts, env) }
}
