export {
  findReadyAccount,
  findRefundAccount,
  findWebhookAccount,
  type OpenedAccount,
  type PaymentRoute,
} from './access.ts'
