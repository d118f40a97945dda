export {
  findReadyAccount,
  findRefundAccount,
  findWebhookAccount,
  type DecryptedAccount,
  type PaymentRoute,
} from './access.ts'
