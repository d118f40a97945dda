import service, { CampaignSender, WebhookSender } from '../../../scripts/support/seed-worker.ts'

/** Generated endpoints of webhooks have addresses that may be somebody's: nothing leaves this machine. */
globalThis.fetch = () => Promise.reject(new TypeError('Nothing is sent from here.'))

export { CampaignSender, WebhookSender }
export default service
