import type { JobCtx } from '../context.ts'
import { captureEmail, captureSms } from '../gateways/capture/capture.ts'
import type { EmailGateway } from '../gateways/email/email.ts'
import type { SmsGateway } from '../gateways/sms/sms.ts'
import { captureStore } from '../modules/outbox/index.ts'

/** What gateways are made of. */
export type Parts = Pick<JobCtx, 'db' | 'config' | 'now' | 'newId'>

const emailGateways: Record<string, (parts: Parts) => EmailGateway> = {
  capture: (parts) => captureEmail(captureStore(parts)),
}

const smsGateways: Record<string, (parts: Parts) => SmsGateway> = {
  capture: (parts) => captureSms(captureStore(parts)),
}

function choose<Gateway>(variable: string, known: Record<string, Gateway>, name: string): Gateway {
  const gateway = Object.hasOwn(known, name) ? known[name] : undefined
  if (gateway) return gateway
  throw new Error(`${variable} is "${name}". It is one of ${Object.keys(known).join(', ')}.`)
}

/** The gateways of the providers that the configuration names. */
export const gatewaysOf = (parts: Parts): Pick<JobCtx, 'email' | 'sms'> => ({
  email: choose('EMAIL_PROVIDER', emailGateways, parts.config.email.name)(parts),
  sms: choose('SMS_PROVIDER', smsGateways, parts.config.sms.name)(parts),
})
