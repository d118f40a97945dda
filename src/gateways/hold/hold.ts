import { heldReason } from '../../domain/waiting.ts'
import type { EmailGateway } from '../email/email.ts'
import type { PassesGateway } from '../passes/passes.ts'
import type { PaymentGateways } from '../payments/payments.ts'
import type { SmsGateway } from '../sms/sms.ts'
import type { WebhookPost } from '../webhook-post/webhook-post.ts'

/** The gateways that send, post or pay. */
export interface OutgoingGateways {
  email: EmailGateway
  sms: SmsGateway
  passes: PassesGateway
  payments: PaymentGateways
  webhookPost: WebhookPost
}

const refuse = async (): Promise<never> => {
  throw new Error(heldReason)
}

/**
 * The last wall while everything that goes out is held: whatever forgets to wait fails here and sends nothing. Reads go
 * on, and so does what answers a customer who adds a pass to a wallet.
 */
export const holdCalls = ({ email, sms, passes, payments }: OutgoingGateways): OutgoingGateways => ({
  email: { ...email, send: refuse },
  sms: { ...sms, send: refuse },
  passes: { ...passes, updateGoogle: refuse, updateGoogleClass: refuse, pushApple: refuse },
  payments: { get: (account) => ({ ...payments.get(account), refund: refuse }) },
  webhookPost: { post: refuse },
})
