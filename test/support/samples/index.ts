import { auditLogSamples } from './audit-log.ts'
import { authSamples } from './auth.ts'
import { campaignSamples } from './campaigns.ts'
import { catalogueSamples } from './catalogue.ts'
import { commerceSamples } from './commerce.ts'
import { consentSamples } from './consents.ts'
import { importSamples } from './data-imports.ts'
import { editionSamples } from './editions.ts'
import { emailSamples } from './emails.ts'
import { fileSamples } from './files.ts'
import { importRunSamples } from './import-runs.ts'
import { merchantAccountSamples } from './merchant-accounts.ts'
import { organizationSamples } from './organizations.ts'
import { productSamples } from './products.ts'
import { refundBatchSamples } from './refund-batches.ts'
import { refundPaymentSamples } from './refund-payments.ts'
import { refundSamples } from './refunds.ts'
import type { SampleOf } from './sample.ts'
import { segmentSamples } from './segments.ts'
import { signupFormSamples } from './signup-forms.ts'
import { suppressionSamples } from './suppressions.ts'
import { systemSamples } from './system.ts'
import { walletSamples } from './wallet.ts'
import { webhookSamples } from './webhooks.ts'

/**
 * A valid request for each operation, by operation id. A new operation needs its sample here; roles, tenants, bodies,
 * lists, idempotency and cost are then tested for it. Samples of missing operations are ignored.
 */
export const samples: Readonly<Record<string, SampleOf>> = {
  ...authSamples,
  ...organizationSamples,
  ...editionSamples,
  ...catalogueSamples,
  ...productSamples,
  ...commerceSamples,
  ...refundSamples,
  ...walletSamples,
  ...refundPaymentSamples,
  ...refundBatchSamples,
  ...segmentSamples,
  ...emailSamples,
  ...campaignSamples,
  ...consentSamples,
  ...signupFormSamples,
  ...suppressionSamples,
  ...fileSamples,
  ...importSamples,
  ...importRunSamples,
  ...webhookSamples,
  ...auditLogSamples,
  ...merchantAccountSamples,
  ...systemSamples,
}
