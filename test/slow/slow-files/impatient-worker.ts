import { operations } from '../../../src/app.ts'
import service, { CampaignSender, WebhookSender } from '../../../src/index.ts'

/** The service with three seconds for a file instead of five minutes. */
const maxReadMs = 3000
for (const { stream } of operations) if (stream) stream.maxReadMs = maxReadMs

export { CampaignSender, WebhookSender }
export default service
